package config

import (
	"errors"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// Put returns the text of a configuration with agents.reach set, and everything else as it is. It fails if the text is
// not a configuration, or sets the key in another form than on a line of its own below [agents].
func Put(text, reach string) (string, error) {
	before := defaults()
	if err := before.decode(text); err != nil {
		return "", err
	}
	if before.Agents.Reach == reach {
		return text, nil
	}
	line := "reach = " + strconv.Quote(reach)
	after, put := defaults(), withLine(text, line)
	err := after.decode(put)
	before.Agents.Reach, before.sources, after.sources = reach, nil, nil
	if err != nil || !reflect.DeepEqual(before, after) {
		return "", errors.New("cannot change agents.reach: it is not written as `reach = ...` below [agents]")
	}
	return put, nil
}

var (
	agentsHeader = regexp.MustCompile(`(?m)^[ \t]*\[[ \t]*agents[ \t]*\][ \t\r]*(?:#.*)?$\n?`)
	anyHeader    = regexp.MustCompile(`(?m)^[ \t]*\[`)
	reachLine    = regexp.MustCompile(`(?m)^[ \t]*reach[ \t]*=[ \t]*[^ \t\r\n#]*`)
)

// withLine puts the line in the place of the one for its key, below the section's header, or behind everything.
func withLine(text, line string) string {
	at := agentsHeader.FindStringIndex(text)
	if at == nil {
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		if text != "" {
			text += "\n"
		}
		return text + "[agents]\n" + line + "\n"
	}
	head, section, rest := text[:at[1]], text[at[1]:], ""
	if !strings.HasSuffix(head, "\n") {
		head += "\n"
	}
	if next := anyHeader.FindStringIndex(section); next != nil {
		section, rest = section[:next[0]], section[next[0]:]
	}
	if old := reachLine.FindStringIndex(section); old != nil {
		return head + section[:old[0]] + line + section[old[1]:] + rest
	}
	return head + line + "\n" + section + rest
}
