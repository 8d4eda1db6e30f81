package claude

import (
	"bytes"
	_ "embed" // the form of a copy
	"strconv"
	"text/template"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"ccd/internal/transcript"
)

// write returns the lines of a draft: only what the client needs to resume the session, and the title that its picker
// shows. Usage is zero so that the client does not compact the copy at once. The blocks of a reply share a message ID: its own, or
// a new one if it has none or another reply has the same. The version in a copy of another agent's session is one that is known to
// read it.
var write = transcript.Writer(form, func(d *transcript.Draft) template.FuncMap {
	ids := map[string]bool{} // of the replies written so far
	return template.FuncMap{"reply": func(id string) string {
		for n := len(ids); id == "" || ids[id]; n++ {
			id = "msg_ccd_" + d.ID[:min(8, len(d.ID))] + "_" + strconv.Itoa(n)
		}
		ids[id] = true
		return id
	}}
})

//go:embed copy.tmpl
var form string

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
