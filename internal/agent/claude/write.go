package claude

import (
	"bytes"
	"cmp"
	"path"
	"strconv"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"ccd/internal/transcript"
)

// writer writes a session of Claude Code: one record a block, each hanging on the one before.
type writer struct {
	draft  *transcript.Draft
	stamps transcript.Stamps
	parent string
	n      int
	ids    map[string]bool // of replies so far
	lines  [][]byte
}

// write gives the lines of a draft. Only what the client needs to resume stands in them, and what its picker
// lists a session by: usage is zero, so that it is not compacted at once; a reply's blocks share their message ID.
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
				extra = `,"toolDenialKind":` + quote(transcript.UserRejected)
			}
			w.line(m, "user", `{"role":"user","content":`+userContent(b)+`}`, extra+mark)
			mark = ""
		}
	}
	title := `{"type":"custom-title","customTitle":` + quote(transcript.TitlePrefix+d.Title) + `,"sessionId":` + quote(d.ID) + `}`
	return append(w.lines, []byte(title))
}

// reply is the ID of a reply: its own, or one made up where it has none or another has the same.
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
		model = `"model":` + quote(m.Model) + `,`
	}
	w.line(m, "assistant", `{"id":`+quote(id)+`,"type":"message","role":"assistant",`+model+`"content":[`+content(&m.Blocks[j])+
		`],"stop_reason":"`+stop+`","stop_sequence":null,"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}`, "")
}

// line writes one record of the chain.
func (w *writer) line(m *transcript.Message, kind, message, extra string) {
	w.n++
	uuid, parent := w.draft.Derived(w.n), "null"
	if w.parent != "" {
		parent = quote(w.parent)
	}
	w.parent = uuid
	d := w.draft
	w.lines = append(w.lines, []byte(`{"parentUuid":`+parent+`,"isSidechain":false,"type":"`+kind+`","message":`+message+extra+
		`,"uuid":"`+uuid+`","timestamp":"`+w.stamps.Next(m.Time)+`","userType":"external","entrypoint":"cli","cwd":`+quote(d.Cwd)+
		`,"sessionId":`+quote(d.ID)+`,"version":`+quote(cmp.Or(d.Version, version))+`,"gitBranch":`+quote(d.Branch)+`}`))
}

// version is the version that a copy of another agent's session names: one that is known to read it.
const version = "2.1.329"

// userContent is the content of a user's record: a text alone is a string, as the client writes it.
func userContent(b *transcript.Block) string {
	if b.Kind == transcript.Human || b.Kind == transcript.Summary {
		return string(b.Raw)
	}
	return "[" + content(b) + "]"
}

func content(b *transcript.Block) string {
	switch b.Kind {
	case transcript.Thinking:
		return string(b.Raw)
	case transcript.Call:
		return `{"type":"tool_use","id":` + quote(b.Call) + `,"name":` + quote(b.Tool) + `,"input":` + string(b.Raw) + `}`
	case transcript.Result:
		failed := ""
		if b.Failed {
			failed = `,"is_error":true`
		}
		return `{"type":"tool_result","tool_use_id":` + quote(b.Call) + `,"content":` + string(b.Raw) + failed + `}`
	case transcript.Image:
		kind := "image"
		if media := (transcript.Node{Raw: b.Raw}).Field("media_type").Text(); media != "" && !bytes.HasPrefix([]byte(media), []byte("image/")) {
			kind = "document"
		}
		return `{"type":"` + kind + `","source":` + string(b.Raw) + `}`
	}
	return `{"type":"text","text":` + string(b.Raw) + `}`
}

// maxSlug is how long the name of a project's directory may be, without the hash that tells longer ones apart.
const maxSlug = 200

// Project returns the name of the directory in which Claude Code keeps the sessions of a working directory: every
// UTF-16 unit of its path but letters and digits is a hyphen, and of a long one the beginning and a hash of it stand.
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

// place is where a draft belongs below the root, with slashes.
func place(d *transcript.Draft) string { return path.Join(Project(d.Cwd), d.ID+".jsonl") }

func quote(text string) string { return string(transcript.Quote(text)) }

// native gives a block of reasoning its raw bytes: the content block that the item stands in.
func native(r *transcript.Record, it *transcript.Item, b *transcript.Block) bool {
	if it.Kind != transcript.Thinking || !transcript.Valid(r.Raw) {
		return false
	}
	content := transcript.Node{Raw: bytes.TrimSpace(r.Raw), Off: r.Span.Off}.Field("message").Field("content")
	for block := range content.Elements() {
		if block.Off <= it.Span.Off && it.Span.End() <= block.Off+int64(len(block.Raw)) {
			b.Raw = bytes.Clone(block.Raw)
			return true
		}
	}
	return false
}
