package hook

import (
	"encoding/json"
	"regexp"
	"strings"
)

// asksForOriginal reports whether a call fetches an original or a companion, whose output must not be shortened again. In a
// shell command it only looks for ccd followed by a printing subcommand, so that xargs, loops and nested shells are found
// too. A command that merely mentions one also matches, which costs little.
func asksForOriginal(tool string, input json.RawMessage) bool {
	if strings.HasPrefix(tool, "mcp__ccd__") {
		return true
	}
	var in struct {
		Command string `json:"command"`
	}
	return json.Unmarshal(input, &in) == nil &&
		(strings.Contains(in.Command, ".ccd.md") || regexp.MustCompile(callsCcd).MatchString(in.Command))
}

// callsCcd matches the name of the program ccd, optional flags and a subcommand that prints archived text.
const callsCcd = `(?i)(?:^|[^\w.-]|:-)ccd(?:\.exe)?` + between +
	`(?:-[^;&|\n]*` + between + `)?` +
	`(?:agent` + between + `)?(?:restore|show|search|diff|timeline|compact)(?:[^\w-]|$)`

// between matches what separates two words: blanks, closing quotes and braces, escaped line ends.
const between = `(?:[ \t,'"})\x60\\]|\\\r?\n)+`
