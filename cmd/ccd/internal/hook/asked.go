package hook

import (
	"encoding/json"
	"regexp"
	"strings"
)

// asksForOriginal reports whether a call is the agent's way to get an original, or a companion: what it prints is what
// was asked for. Of a shell's command no more is looked for than a ccd with what it is to print, wherever that stands:
// behind xargs, in a loop, in the quotes of another shell. One that only speaks of it passes, too, which costs little.
func asksForOriginal(tool string, input json.RawMessage) bool {
	if strings.HasPrefix(tool, "mcp__ccd__") {
		return true
	}
	var in struct {
		Command string `json:"command"`
		Path    string `json:"file_path"`
	}
	if json.Unmarshal(input, &in) != nil {
		return false
	}
	if strings.HasSuffix(in.Path, ".ccd.md") || strings.Contains(in.Command, ".ccd.md") {
		return true
	}
	return regexp.MustCompile(callsCcd).MatchString(in.Command)
}

// callsCcd is a word of a shell, or of a program, that names ccd, and behind it, after flags perhaps, a command that prints
// what is on record.
const callsCcd = `(?i)(?:^|[^\w.-]|:-)ccd(?:\.exe)?` + between +
	`(?:-[^;&|\n]*` + between + `)?` +
	`(?:agent` + between + `)?(?:restore|show|search|diff|timeline|compact)(?:[^\w-]|$)`

// between is what stands between two words: blanks, what closes quotes and variables, a line's end that is escaped.
const between = `(?:[ \t,'"})\x60\\]|\\\r?\n)+`
