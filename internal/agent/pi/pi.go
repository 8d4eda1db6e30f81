// Package pi describes Pi: where it stores sessions, what its tools do. Package entries decodes its records.
package pi

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

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

// writer writes a session of Pi: a header, then one entry per message, each with the previous one as its parent.
type writer struct {
	draft  *transcript.Draft
	stamps transcript.Stamps
	parent string
	lines  [][]byte
}

// write returns the lines of a draft, in version 3 of the format. The usage of replies is zero so that the client does
// not compact the copy at once. If the client does not know a reply's model, it uses its default.
func write(d transcript.Draft) [][]byte {
	w := writer{draft: &d, stamps: transcript.Stamps{Last: d.Start}, parent: "null"}
	start := w.stamps.Next(d.Start)
	for i := range d.Messages {
		w.message(&d.Messages[i])
	}
	w.entry(time.Time{}, "session_info", `"name":`+transcript.QuoteText(transcript.TitlePrefix+d.Title))
	header := `{"type":"session","version":3,"id":` + transcript.QuoteText(d.ID) + `,"timestamp":"` + start + `","cwd":` + transcript.QuoteText(d.Cwd) + `,` + d.Resumed.JSON(len(w.lines)+1) + `}`
	return append([][]byte{[]byte(header)}, w.lines...)
}

func (w *writer) message(m *transcript.Message) {
	var said []string
	stop := "stop"
	for i := range m.Blocks {
		switch b := &m.Blocks[i]; b.Kind {
		case transcript.Summary:
			w.entry(m.Time, "custom_message", `"customType":`+transcript.QuoteText(entries.CopySummary)+`,"content":`+string(b.Raw)+`,"display":true`)
		case transcript.Result:
			w.write(m, `"role":"toolResult","toolCallId":`+transcript.QuoteText(b.Call)+`,"toolName":`+transcript.QuoteText(b.Tool)+
				`,"content":[{"type":"text","text":`+string(b.Raw)+`}],"isError":`+strconv.FormatBool(b.Failed))
		case transcript.Call:
			stop = "toolUse"
			said = append(said, `{"type":"toolCall","id":`+transcript.QuoteText(b.Call)+`,"name":`+transcript.QuoteText(b.Tool)+`,"arguments":`+string(b.Raw)+`}`)
		default:
			said = append(said, `{"type":"text","text":`+string(b.Raw)+`}`)
		}
	}
	switch content := `,"content":[` + strings.Join(said, ",") + `]`; {
	case m.Assistant:
		w.write(m, `"role":"assistant"`+content+`,"api":"anthropic-messages","provider":`+transcript.QuoteText(cmp.Or(m.Provider, "anthropic"))+`,"model":`+transcript.QuoteText(m.Model)+
			`,"usage":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"`+stop+`"`)
	case len(said) > 0:
		w.write(m, `"role":"user"`+content)
	}
}

func (w *writer) write(m *transcript.Message, members string) {
	at := m.Time
	if at.Before(w.stamps.Last) {
		at = w.stamps.Last
	}
	w.entry(m.Time, "message", `"message":{`+members+`,"timestamp":`+strconv.FormatInt(at.UnixMilli(), 10)+`}`)
}

// entry writes an entry whose parent is the previous one.
func (w *writer) entry(at time.Time, kind, members string) {
	id := fmt.Sprintf("%.8s", w.draft.DerivedUUID(len(w.lines)+1))
	w.lines = append(w.lines, []byte(`{"type":"`+kind+`","id":"`+id+`","parentId":`+w.parent+`,"timestamp":"`+w.stamps.Next(at)+`",`+members+`}`))
	w.parent = `"` + id + `"`
}

// place returns the path of a draft below the root, with slashes.
func place(d *transcript.Draft, _ string) string {
	dir := strings.NewReplacer("/", "-", `\`, "-", ":", "-").Replace(strings.TrimLeft(d.Cwd, `/\`))
	return path.Join("--"+dir+"--", d.Start.UTC().Format("2006-01-02T15-04-05-")+fmt.Sprintf("%03dZ_", d.Start.Nanosecond()/1e6)+d.ID+".jsonl")
}
