package view

import (
	"strings"
	"time"

	"ccd/internal/lazy"
	"ccd/internal/words"
)

// addressed finds what a handover says of whoever reads it, and the times in it.
var addressed = lazy.Regexp(`(?m)^(?:Your (?:move|last words|last thought)|The human's (?:move(?:; your turn ended)?|standing words))` +
	`|, your turn ended #\d+\)| \(to your #\d+: |; the human spoke since,|\d{4}-\d\d-\d\d \d\d:\d\dZ`)

// ForPerson returns a handover, which is written for the agent, as the person at the terminal reads it: "you" is the person, and times are
// local.
func ForPerson(handover string) string {
	swap := strings.NewReplacer("Your ", "The agent's ", "your ", "the agent's ", "The human's ", "Your ", "the human spoke", "you spoke")
	return addressed().ReplaceAllStringFunc(handover, func(found string) string {
		if at, err := time.Parse("2006-01-02 15:04Z", found); err == nil {
			return words.Local(at)
		}
		return swap.Replace(found)
	})
}
