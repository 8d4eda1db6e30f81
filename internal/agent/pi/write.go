package pi

import (
	"cmp"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"ccd/internal/agent/entries"
	"ccd/internal/transcript"
)

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
		case transcript.Image:
			media, data := transcript.ImageData(b.Raw)
			said = append(said, `{"type":"image","data":`+transcript.QuoteText(data)+`,"mimeType":`+transcript.QuoteText(media)+`}`)
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
