package claude

import (
	"bytes"
	"cmp"
	"strconv"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"ccd/internal/transcript"
)

// writer writes a session of Claude Code: one record per block, each with the previous one as its parent.
type writer struct {
	draft  *transcript.Draft
	stamps transcript.Stamps
	parent string
	n      int
	ids    map[string]bool // IDs of the replies written so far
	lines  [][]byte
}

// write returns the lines of a draft: only what the client needs to resume the session, and the title that its picker
// shows. Usage is zero so that the client does not compact the copy at once. The blocks of a reply share a message ID.
func write(d transcript.Draft) [][]byte {
	total := 1
	for _, m := range d.Messages {
		total += len(m.Blocks)
	}
	w := writer{draft: &d, stamps: transcript.Stamps{Last: d.Start}, ids: map[string]bool{}}
	mark := "," + d.Resumed.JSON(total)
	for i := range d.Messages {
		m := &d.Messages[i]
		id := w.reply(m.ID)
		for j := range m.Blocks {
			if m.Assistant {
				w.assistant(m, j, id)
				continue
			}
			b := &m.Blocks[j]
			extra := ""
			switch {
			case b.Kind == transcript.Summary:
				extra = `,"isCompactSummary":true`
			case b.Typed:
				extra = `,"origin":{"kind":"human"}`
			case b.Refused:
				extra = `,"toolDenialKind":` + transcript.QuoteText(transcript.UserRejected)
			}
			w.line(m, "user", `{"role":"user","content":`+userContent(b)+`}`, extra+mark)
			mark = ""
		}
	}
	title := `{"type":"custom-title","customTitle":` + transcript.QuoteText(transcript.TitlePrefix+d.Title) + `,"sessionId":` + transcript.QuoteText(d.ID) + `}`
	return append(w.lines, []byte(title))
}

// reply returns the ID of a reply: its own, or a new one if it has none or another reply has the same.
func (w *writer) reply(id string) string {
	for n := len(w.ids); id == "" || w.ids[id]; n++ {
		id = "msg_ccd_" + w.draft.ID[:min(8, len(w.draft.ID))] + "_" + strconv.Itoa(n)
	}
	w.ids[id] = true
	return id
}

func (w *writer) assistant(m *transcript.Message, j int, id string) {
	stop := "end_turn"
	for _, b := range m.Blocks {
		if b.Kind == transcript.Call {
			stop = "tool_use"
		}
	}
	model := ""
	if m.Model != "" {
		model = `"model":` + transcript.QuoteText(m.Model) + `,`
	}
	w.line(m, "assistant", `{"id":`+transcript.QuoteText(id)+`,"type":"message","role":"assistant",`+model+`"content":[`+m.Blocks[j].JSON()+
		`],"stop_reason":"`+stop+`","stop_sequence":null,"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}`, "")
}

func (w *writer) line(m *transcript.Message, kind, message, extra string) {
	w.n++
	uuid, parent := w.draft.DerivedUUID(w.n), "null"
	if w.parent != "" {
		parent = transcript.QuoteText(w.parent)
	}
	w.parent = uuid
	d := w.draft
	w.lines = append(w.lines, []byte(`{"parentUuid":`+parent+`,"isSidechain":false,"type":"`+kind+`","message":`+message+extra+
		`,"uuid":"`+uuid+`","timestamp":"`+w.stamps.Next(m.Time)+`","userType":"external","entrypoint":"cli","cwd":`+transcript.QuoteText(d.Cwd)+
		`,"sessionId":`+transcript.QuoteText(d.ID)+`,"version":`+transcript.QuoteText(cmp.Or(d.Version, version))+`,"gitBranch":`+transcript.QuoteText(d.Branch)+`}`))
}

// version is the client version in a copy of another agent's session: one that is known to read it.
const version = "2.1.329"

// userContent returns the content of a user's record. A text alone is a string, as the client writes it.
func userContent(b *transcript.Block) string {
	if b.Kind == transcript.Human || b.Kind == transcript.Summary {
		return string(b.Raw)
	}
	return "[" + b.JSON() + "]"
}

// maxSlug is the longest name of a project's directory before the client cuts it and adds a hash.
const maxSlug = 200

// Project returns the name of the directory in which Claude Code stores the sessions of a working directory. Every
// UTF-16 unit of the path that is not a letter or digit becomes a hyphen; a long name is cut, and a hash of the path is
// added.
func Project(cwd string) string {
	units := utf16.Encode([]rune(cwd))
	name := make([]byte, len(units))
	hash := int32(0)
	for i, u := range units {
		hash = hash*31 + int32(u)
		if name[i] = '-'; u < utf8.RuneSelf && (unicode.IsLetter(rune(u)) || unicode.IsDigit(rune(u))) {
			name[i] = byte(u)
		}
	}
	if len(name) <= maxSlug {
		return string(name)
	}
	return string(name[:maxSlug]) + "-" + strconv.FormatInt(max(int64(hash), -int64(hash)), 36)
}

// native takes a thinking block whole, because the client needs its signature too.
func native(_ *transcript.Record, it *transcript.Item, b *transcript.Block) bool {
	if (transcript.Node{Raw: it.Block}).Field("type").Text() != "thinking" {
		return false
	}
	b.Raw = bytes.Clone(it.Block)
	return true
}
