package lexicon

import "strings"

var unmarked = strings.NewReplacer("*", "", "`", "", "\"", "", "\n> ", " ")

// Plain returns text in the form in which texts are compared: lower case, without quotes and emphasis, on one line.
func Plain(text string) string {
	return strings.Join(strings.Fields(unmarked.Replace(Lower(text))), " ")
}
