package sidecar

import (
	"encoding/json"
	"fmt"
	"strings"

	"ccd/compactor"
	"ccd/internal/lazy"
	"ccd/internal/mark"
)

// Matter is a front matter as it stands in a companion. Its JSON keys are stable (docs/FORMAT.md). Names of sessions and paths are
// written as mark.Name writes them.
type Matter struct {
	CCD      int               `json:"ccd"`
	Rules    int               `json:"rules"`
	Options  string            `json:"options"`
	Manual   *compactor.Manual `json:"manual"` // nil if no options were set by hand
	Agent    string            `json:"agent"`
	Session  string            `json:"session"`
	Parent   string            `json:"parent"`
	Source   string            `json:"source"`
	Covers   Covers            `json:"covers"`
	Model    string            `json:"model"`
	Window   int64             `json:"context_window"`
	Assumed  bool              `json:"context_window_assumed"`
	Pressure float64           `json:"pressure"`
	Level    string            `json:"level"`
	Tokens   struct {
		Original  int64   `json:"original"`
		Companion int64   `json:"companion"`
		Saved     float64 `json:"saved_percent"`
		Estimator string  `json:"estimator"`
		About     int64   `json:"about"` // 0 in a companion written by an older ccd
		Reported  int64   `json:"reported"`
	} `json:"tokens"`
	Knowledge struct {
		Visible     int `json:"visible"`
		Recoverable int `json:"recoverable"`
		Lost        int `json:"lost"`
	} `json:"key_information"`
	Redacted map[string]int `json:"redacted"` // different secrets, by kind, that the session has and the text does not show
	Verified bool           `json:"verified"`
	Reason   string         `json:"reason"`
}

// Covers is the part of a transcript that a companion is made from.
type Covers struct {
	Records int    `json:"records"`
	Bytes   int64  `json:"bytes"`
	SHA256  string `json:"sha256"`
}

// structured are the keys whose values are no strings.
var structured = map[string]bool{
	"ccd": true, "rules": true, "manual": true, "covers": true, "context_window": true, "context_window_assumed": true, "pressure": true,
	"tokens": true, "key_information": true, "redacted": true, "verified": true,
}

var (
	flowPart = lazy.Regexp(`"(?:[^"\\]|\\.)*"|[^\s{}\[\],:"]+`)
	bare     = lazy.Regexp(`^(?:-?\d{1,19}(?:\.\d+)?|true|false)$`) // of JSON
)

// Front parses the front matter. It fails on a value that Render does not write.
func (p Parsed) Front() (m Matter, err error) {
	fields := map[string]json.RawMessage{}
	for key, value := range p.Fields {
		if key == "context_window" {
			var assumed bool
			value, assumed = strings.CutSuffix(value, " (assumed)")
			fields["context_window_assumed"] = json.RawMessage(fmt.Sprint(assumed))
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
		_, err = compactor.ParseLevel(m.Level)
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
