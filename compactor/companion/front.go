package companion

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"ccd/compactor"
	"ccd/internal/lazy"
	"ccd/internal/mark"
)

// Matter is the front matter of a companion. Its keys are stable (docs/FORMAT.md). Names of sessions and paths are written as
// mark.Name writes them.
type Matter struct {
	CCD     int               `json:"ccd"`
	Rules   int               `json:"rules"`
	Options string            `json:"options"` // hash of the options that made the text
	Manual  *compactor.Manual `json:"manual"`  // nil if no options were set by hand
	Agent   string            `json:"agent"`
	Session string            `json:"session"`
	Parent  string            `json:"parent"` // session that started this one, "" for a main session
	Source  string            `json:"source"` // path of the transcript below the agent's home
	Covers  Covers            `json:"covers"`
	compactor.Header
}

// Covers is the part of a transcript that a companion is made from.
type Covers struct {
	Records int    `json:"records"`
	Bytes   int64  `json:"bytes"`
	SHA256  string `json:"sha256"`
}

// estimator is how estimated tokens are counted.
const estimator = "chars*4/3"

// text returns the front matter: a line for each key of its JSON that applies, in flow style with as few quotes as YAML needs.
func (m Matter) text(sections []string) string {
	m.CCD, m.Rules, m.Tokens.Estimator = Version, compactor.Rules, estimator
	m.Session, m.Parent, m.Source = mark.Name(m.Session), mark.Name(m.Parent), mark.Name(m.Source)
	data, _ := json.Marshal(m) // cannot fail: no part of it is a channel, a function or a NaN
	var b strings.Builder
	b.WriteString("---\n")
	d := json.NewDecoder(bytes.NewReader(data))
	for _, _ = d.Token(); d.More(); { // the brace
		key, _ := d.Token()
		var value json.RawMessage
		_ = d.Decode(&value)
		switch text := flow(string(value)); {
		case key == assumedKey, text == "null", text == `""`, text == "{}":
		case key == windowKey && m.Assumed:
			fmt.Fprintf(&b, "%s: %s%s\n", key, text, assumed)
		default:
			fmt.Fprintf(&b, "%s: %s\n", key, text)
		}
	}
	fmt.Fprintf(&b, "sections: {%s}\n---\n", strings.Join(sections, ", "))
	return b.String()
}

// The window has a mark in its value instead of a line of its own.
const (
	windowKey  = "context_window"
	assumedKey = "context_window_assumed"
	assumed    = " (assumed)"
)

var (
	jsonPart = lazy.Regexp(`"(?:[^"\\]|\\.)*"|[:,]`)
	plain    = lazy.Regexp(`^[A-Za-z0-9_./@+-](?:[A-Za-z0-9_./@+* -]*[A-Za-z0-9_./@+*-])?$`)
	reserved = lazy.Regexp(`(?i)^(true|false|yes|no|on|off|null|y|n)$`)
	flowPart = lazy.Regexp(`"(?:[^"\\]|\\.)*"|[^\s{}\[\],:"]+`)
	bare     = lazy.Regexp(`^(?:-?\d{1,19}(?:\.\d+)?|true|false)$`) // of JSON
)

// flow returns JSON as YAML in flow style. A string has quotes only if it would be read as something else without.
func flow(value string) string {
	return jsonPart().ReplaceAllStringFunc(value, func(part string) string {
		var s string
		switch {
		case part[0] != '"':
			return part + " "
		case json.Unmarshal([]byte(part), &s) != nil, !plain().MatchString(s), reserved().MatchString(s), bare().MatchString(s):
			return quoted(s)
		}
		return s
	})
}

// quoted returns s as a JSON string. It escapes what could pass for a marker and what is invisible.
func quoted(s string) string {
	q, err := json.Marshal(strings.ToValidUTF8(s, "\ufffd"))
	if err != nil {
		return `""`
	}
	var b strings.Builder
	for _, r := range strings.ReplaceAll(string(q), "[ccd", `\u005bccd`) {
		if c := string(r); r < utf8.RuneSelf || mark.Visible(c) == c {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

// structured are the keys whose values are no strings.
var structured = map[string]bool{
	"ccd": true, "rules": true, "manual": true, "covers": true, windowKey: true, assumedKey: true, "pressure": true,
	"tokens": true, "key_information": true, "redacted": true, "verified": true,
}

// Front parses the front matter. It fails on a value that Render does not write.
func (p Parsed) Front() (m Matter, err error) {
	fields := map[string]json.RawMessage{}
	for key, value := range p.Fields {
		if key == windowKey {
			var is bool
			value, is = strings.CutSuffix(value, assumed)
			fields[assumedKey] = json.RawMessage(fmt.Sprint(is))
		}
		fields[key] = json.RawMessage(quoted(value))
		if structured[key] {
			fields[key] = json.RawMessage(flowPart().ReplaceAllStringFunc(value, func(part string) string {
				if part[0] == '"' || bare().MatchString(part) {
					return part
				}
				return quoted(part)
			}))
		}
	}
	data, err := json.Marshal(fields)
	if err == nil {
		m.Redacted = map[string]int{}
		err = json.Unmarshal(data, &m)
	}
	if err == nil {
		_, err = mark.ParseHash(m.Covers.SHA256)
	}
	if err != nil {
		return m, fmt.Errorf("read front matter: %w", err)
	}
	return m, nil
}

// plainScalar removes the quotes of a scalar, if it has any.
func plainScalar(s string) string {
	var plain string
	if strings.HasPrefix(s, `"`) && json.Unmarshal([]byte(s), &plain) == nil {
		return plain
	}
	return s
}
