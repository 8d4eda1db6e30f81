// Package pi describes Pi: where it stores sessions, what its tools do. Package entries decodes its records.
package pi

import (
	"cmp"
	_ "embed" // the form of a copy
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"ccd/internal/agent/entries"
	"ccd/internal/transcript"
)

// Row returns the format of Pi.
func Row() transcript.Format {
	return transcript.Format{
		Agent: "pi", Title: "Pi",
		Roots: roots, Match: match,
		Client: &client, Parse: entries.Parse,
		Write: write, Place: place, Resume: []string{"pi", "--session"}, ByPath: true, Shell: transcript.ShellTool("bash"),
		Connect: &transcript.Connect{Name: "pi", Dir: dir, Guide: "AGENTS.md", Mod: "extensions/ccd"},
	}
}

func roots(getenv func(string) string, home string) []string {
	if sessions := getenv("PI_CODING_AGENT_SESSION_DIR"); sessions != "" {
		return []string{entries.Dir(sessions, home)}
	}
	return []string{filepath.Join(dir(getenv, home), "sessions")}
}

func dir(getenv func(string) string, home string) string {
	return cmp.Or(entries.Dir(getenv("PI_CODING_AGENT_DIR"), home), filepath.Join(home, ".pi", "agent"))
}

// match accepts --DIR--/TIME_UUID.jsonl, and TIME_UUID.jsonl in a directory that the environment names.
func match(_, rel string) (transcript.Session, bool) {
	stem, ok := transcript.Stem(rel)
	id := cmp.Or(entries.SessionID(stem), strings.TrimLeft(strings.TrimSuffix(rel, ".jsonl"), "-")) // an ID that begins with - would be a flag on the command line
	return transcript.Session{Key: transcript.Key{ID: id}}, ok
}

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
	Block:       entries.Block,
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

// write returns the lines of a draft, in version 3 of the format: a header, then one entry per message, each with the previous one
// as its parent. The usage of replies is zero so that the client does not compact the copy at once. If the client does not know a
// reply's model, it uses its default.
var write = transcript.Writer(form, nil)

//go:embed copy.tmpl
var form string

// place returns the path of a draft below the root, with slashes.
func place(d *transcript.Draft, _ string) string {
	dir := strings.NewReplacer("/", "-", `\`, "-", ":", "-").Replace(strings.TrimLeft(d.Cwd, `/\`))
	return path.Join("--"+dir+"--", d.Start.UTC().Format("2006-01-02T15-04-05-")+fmt.Sprintf("%03dZ_", d.Start.Nanosecond()/1e6)+d.ID+".jsonl")
}
