package pi

import (
	"strings"

	"ccd/internal/agent/entries"
	"ccd/internal/transcript"
)

// client lists the tools of Pi and the texts that it writes in the user's role, from the program (version 3 of the
// format). What extensions add is unknown.
var client = transcript.Client{
	Ops: transcript.Tools(map[transcript.Op]string{
		transcript.Command: "bash powershell",
		transcript.Read:    "read",
		transcript.Write:   "write",
		transcript.Edit:    "edit",
		transcript.Search:  "grep find ls",
		transcript.Agent:   "subagent",
	}),
	Bare:        bare,
	Flags:       true,
	Replacement: entries.Retained,
	Elements: transcript.Elements("file skill",
		""),
}

// bare reads the output of read: the lines of a file from the offset on. If lines are missing, the text ends with a
// notice, or is one.
func bare(a *transcript.Action, text string) transcript.Content {
	body, more := text, false
	i := strings.LastIndex(text, "\n")
	last := text[i+1:]
	switch {
	case !strings.HasPrefix(last, "[") && !strings.HasPrefix(last, "... ("):
	case strings.Contains(last, "truncated"), strings.HasPrefix(text, "[Line "): // some lines are cut
		return transcript.Content{}
	case strings.Contains(last, "Use offset="):
		body, more = strings.TrimSuffix(text[:max(i, 0)], "\n"), true
	}
	return transcript.Some(max(1, a.Lines[0]), body, more)
}
