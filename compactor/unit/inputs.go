package unit

import (
	"bytes"
	"encoding/json"
	"strings"

	"ccd/internal/transcript"
)

// changeText returns a change as - and + lines, a new file as its content, and a patch as written.
func (w *writer) changeText(i int32) string {
	raw := w.body(i).raw
	content, steps, ok := transcript.Edits(raw)
	if !ok {
		if patch := w.f.Client().Patch(w.f.Tool(w.row(i)), raw); patch != "" {
			return patch
		}
		return original(transcript.Call, raw)
	}
	if steps == nil {
		return content
	}
	var b strings.Builder
	for _, s := range steps {
		signed(&b, "- ", s.Old)
		signed(&b, "+ ", s.New)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func signed(b *strings.Builder, sign, text string) {
	for line := range strings.Lines(text) {
		b.WriteString(sign + strings.TrimSuffix(line, "\n") + "\n")
	}
}

// fieldsOf returns an input with multi-line text as `name: value` lines, because as JSON the text would be one line with
// escapes. It returns "" for any other input.
func fieldsOf(raw []byte) string {
	if !bytes.Contains(raw, []byte(`\n`)) {
		return ""
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return ""
	}
	var b strings.Builder
	for dec.More() {
		name, err := dec.Token()
		key, ok := name.(string)
		var value json.RawMessage
		if err != nil || !ok || dec.Decode(&value) != nil {
			return ""
		}
		text := string(value)
		if len(value) > 0 && value[0] == '"' {
			text = original(transcript.Text, value)
		}
		if strings.Contains(text, "\n") {
			text = "\n" + strings.TrimRight(text, "\n")
		} else {
			text = " " + text
		}
		b.WriteString(key + ":" + text + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}
