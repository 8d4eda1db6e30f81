package transcript

import (
	"bytes"
	"path"
	"strconv"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// claudeWriter writes a session of Claude Code: one record a block, each hanging on the one before.
type claudeWriter struct {
	draft  *Draft
	stamps stamps
	parent string
	n      int
	ids    map[string]bool // of replies so far
	lines  [][]byte
}

// writeClaude gives the lines of a draft. Only what the client needs to resume stands in them, and what its picker
// lists a session by: usage is zero, so that it is not compacted at once; a reply's blocks share their message ID.
func writeClaude(d Draft) [][]byte {
	total := 1
	for _, m := range d.Messages {
		total += len(m.Blocks)
	}
	w := claudeWriter{draft: &d, stamps: stamps{d.Start}, ids: map[string]bool{}}
	mark := "," + d.Resumed.json(total)
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
			case b.Kind == Summary:
				extra = `,"isCompactSummary":true`
			case b.Typed:
				extra = `,"origin":{"kind":"human"}`
			case b.Refused:
				extra = `,"toolDenialKind":` + quote(userRejected)
			}
			w.line(m, "user", `{"role":"user","content":`+claudeUserContent(b)+`}`, extra+mark)
			mark = ""
		}
	}
	title := `{"type":"custom-title","customTitle":` + quote(TitlePrefix+d.Title) + `,"sessionId":` + quote(d.ID) + `}`
	return append(w.lines, []byte(title))
}

// reply is the ID of a reply: its own, or one made up where it has none or another has the same.
func (w *claudeWriter) reply(id string) string {
	for n := len(w.ids); id == "" || w.ids[id]; n++ {
		id = "msg_ccd_" + w.draft.ID[:min(8, len(w.draft.ID))] + "_" + number(n)
	}
	w.ids[id] = true
	return id
}

func (w *claudeWriter) assistant(m *Message, j int, id string) {
	stop := "end_turn"
	for _, b := range m.Blocks {
		if b.Kind == Call {
			stop = "tool_use"
		}
	}
	model := ""
	if m.Model != "" {
		model = `"model":` + quote(m.Model) + `,`
	}
	w.line(m, "assistant", `{"id":`+quote(id)+`,"type":"message","role":"assistant",`+model+`"content":[`+claudeContent(&m.Blocks[j])+
		`],"stop_reason":"`+stop+`","stop_sequence":null,"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}`, "")
}

// line writes one record of the chain.
func (w *claudeWriter) line(m *Message, kind, message, extra string) {
	w.n++
	uuid, parent := w.draft.derived(w.n), "null"
	if w.parent != "" {
		parent = quote(w.parent)
	}
	w.parent = uuid
	d := w.draft
	w.lines = append(w.lines, []byte(`{"parentUuid":`+parent+`,"isSidechain":false,"type":"`+kind+`","message":`+message+extra+
		`,"uuid":"`+uuid+`","timestamp":"`+w.stamps.next(m.Time)+`","userType":"external","entrypoint":"cli","cwd":`+quote(d.Cwd)+
		`,"sessionId":`+quote(d.ID)+`,"version":`+quote(orElse(d.Version, claudeVersion))+`,"gitBranch":`+quote(d.Branch)+`}`))
}

// claudeVersion is the version that a copy of another agent's session names: one that is known to read it.
const claudeVersion = "2.1.329"

// claudeUserContent is the content of a user's record: a text alone is a string, as the client writes it.
func claudeUserContent(b *Block) string {
	if b.Kind == Human || b.Kind == Summary {
		return string(b.Raw)
	}
	return "[" + claudeContent(b) + "]"
}

func claudeContent(b *Block) string {
	switch b.Kind {
	case Thinking:
		return string(b.Raw)
	case Call:
		return `{"type":"tool_use","id":` + quote(b.Call) + `,"name":` + quote(b.Tool) + `,"input":` + string(b.Raw) + `}`
	case Result:
		failed := ""
		if b.Failed {
			failed = `,"is_error":true`
		}
		return `{"type":"tool_result","tool_use_id":` + quote(b.Call) + `,"content":` + string(b.Raw) + failed + `}`
	case Image:
		kind := "image"
		if media := (node{raw: b.Raw}).field("media_type").text(); media != "" && !bytes.HasPrefix([]byte(media), []byte("image/")) {
			kind = "document"
		}
		return `{"type":"` + kind + `","source":` + string(b.Raw) + `}`
	}
	return `{"type":"text","text":` + string(b.Raw) + `}`
}

// maxSlug is how long the name of a project's directory may be, without the hash that tells longer ones apart.
const maxSlug = 200

// ClaudeProject returns the name of the directory in which Claude Code keeps the sessions of a working directory: every
// UTF-16 unit of its path but letters and digits is a hyphen, and of a long one the beginning and a hash of it stand.
func ClaudeProject(cwd string) string {
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

// claudePlace is where a draft belongs below the root, with slashes.
func claudePlace(d *Draft) string { return path.Join(ClaudeProject(d.Cwd), d.ID+".jsonl") }
