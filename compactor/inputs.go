package compactor

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"ccd/internal/transcript"
)

// editInput is what the tools that change files are given, under the names that they use.
type editInput struct {
	Old     *exact      `json:"old_string"`
	New     *exact      `json:"new_string"`
	All     bool        `json:"replace_all"`
	Content *exact      `json:"content"`
	Edits   []editInput `json:"edits"`
}

// exact is a JSON string as the agent saw it: lone surrogates and bytes that are not UTF-8 are kept, not replaced.
type exact string

// UnmarshalJSON takes the string out of its quotes.
func (e *exact) UnmarshalJSON(raw []byte) error {
	if len(raw) == 0 || raw[0] != '"' {
		return errors.New("not a string")
	}
	*e = exact(transcript.Original(transcript.Text, raw))
	return nil
}

// steps are the replacements that an input asks for, in order.
func (e *editInput) steps() []editInput {
	if len(e.Edits) > 0 {
		return e.Edits
	}
	if e.Old != nil && e.New != nil {
		return []editInput{*e}
	}
	return nil
}

// changeText is a change as - and + lines, a new file as its content, and a patch as it stands.
func (d *draft) changeText(i int32) string {
	raw := d.body(i).raw
	var in editInput
	if err := json.Unmarshal(raw, &in); err != nil {
		return patchText(raw)
	}
	if in.Content != nil {
		return string(*in.Content)
	}
	if len(in.steps()) == 0 {
		return patchText(raw)
	}
	var b strings.Builder
	for _, s := range in.steps() {
		if s.Old == nil || s.New == nil {
			return ""
		}
		signed(&b, "- ", string(*s.Old))
		signed(&b, "+ ", string(*s.New))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func signed(b *strings.Builder, sign, text string) {
	if text == "" {
		return
	}
	for line := range strings.Lines(text) {
		b.WriteString(sign + strings.TrimSuffix(line, "\n") + "\n")
	}
}

// fieldsOf gives an input that holds text of several lines as `name: value` lines, the text as it was meant: as JSON it
// would be one line with escapes. It is "" for any other input.
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

// patchText is the text of a patch, wherever the input holds it.
func patchText(raw []byte) string {
	text := original(transcript.Call, raw)
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		var in map[string]any
		if json.Unmarshal([]byte(text), &in) == nil {
			for _, k := range []string{"input", "patch", "command", "cmd"} {
				if s, ok := in[k].(string); ok && strings.Contains(s, "*** Begin Patch") {
					return s
				}
				if list, ok := in[k].([]any); ok {
					for _, v := range list {
						if s, ok := v.(string); ok && strings.Contains(s, "*** Begin Patch") {
							return s
						}
					}
				}
			}
		}
	}
	return text
}
