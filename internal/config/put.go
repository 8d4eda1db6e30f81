package config

import (
	"errors"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// Put returns the text of a configuration with agents.reach set and everything else unchanged. It fails if the text is
// not a valid configuration, or sets the key in any form other than on a line of its own below [agents].
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
	agentsHeader = regexp.MustCompile(`(?m)^[ \t]*\[[ \t]*agents[ \t]*\][ \t\r]*(?:#.*)?(?:\n|\z)`)
	reachLine    = regexp.MustCompile(`(?m)^[ \t]*reach[ \t]*=[ \t]*[^ \t\r\n#]*`) // no other section has such a key
)

// withLine replaces the line of its key, or adds it below the section's header or at the end.
func withLine(text, line string) string {
	if old := reachLine.FindStringIndex(text); old != nil {
		return text[:old[0]] + line + text[old[1]:]
	}
	if at := agentsHeader.FindStringIndex(text); at != nil {
		return strings.TrimSuffix(text[:at[1]], "\n") + "\n" + line + "\n" + text[at[1]:]
	}
	if text = strings.TrimSuffix(text, "\n"); text != "" {
		text += "\n\n"
	}
	return text + "[agents]\n" + line + "\n"
}
