package sidecar

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"ccd/compactor"
	"ccd/internal/mark"
)

// Front parses the front matter: the input of Render except the host, the fallbacks, the savings by kind and the chars per
// token, which are not written. Tokens.Companion, Tokens.SavedPercent and About are those that Render counted; About is 0 in
// a companion written by an older ccd. It fails on a value that Render does not write.
func (p Parsed) Front() (Front, error) {
	r := reader{fields: p.Fields}
	covers, tokens, key := r.flow("covers"), r.flow("tokens"), r.flow("key_information")
	window, assumed := strings.CutSuffix(p.Fields["context_window"], " (assumed)")
	f := Front{
		Options: p.Fields["options"], Agent: p.Fields["agent"], Session: mark.Unname(p.Fields["session"]), Parent: mark.Unname(p.Fields["parent"]),
		Source: mark.Unname(p.Fields["source"]), Records: int(r.integer(covers["records"])), Bytes: r.integer(covers["bytes"]),
		Sum: r.sum(covers["sha256"]), Manual: r.manual(),
	}
	f.Model, f.Window, f.Assumed, f.Pressure = p.Fields["model"], r.integer(window), assumed, r.real(p.Fields["pressure"])
	if p.Fields["outliers"] != "" {
		outliers := r.flow("outliers")
		f.Outliers = compactor.Outliers{Reports: int(r.integer(outliers["reports"])), Tokens: r.integer(outliers["tokens"])}
	}
	f.Level, f.Verified, f.Reason = r.level(p.Fields["level"]), p.Fields["verified"] == "true", p.Fields["reason"]
	f.Tokens = compactor.Tokens{
		Original: r.integer(tokens["original"]), Companion: r.integer(tokens["companion"]),
		Reported: r.integer(tokens["reported"]), SavedPercent: r.real(tokens["saved_percent"]),
	}
	f.KeyInformation = compactor.KeyInformation{
		Visible: int(r.integer(key["visible"])), Recoverable: int(r.integer(key["recoverable"])), Lost: int(r.integer(key["lost"])),
	}
	f.Secrets = r.secrets()
	if tokens["about"] != "" {
		f.About = r.integer(tokens["about"])
	}
	if r.err != nil {
		return f, fmt.Errorf("read front matter: %w", r.err)
	}
	return f, nil
}

// reader parses values and keeps the first error.
type reader struct {
	fields map[string]string
	err    error
}

func (r *reader) fault(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *reader) integer(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		r.fault(err)
	}
	return n
}

func (r *reader) real(s string) float64 {
	n, err := strconv.ParseFloat(s, 64)
	if err != nil {
		r.fault(err)
	}
	return n
}

func (r *reader) sum(s string) mark.Hash {
	h, err := mark.ParseHash(s)
	if err != nil {
		r.fault(err)
	}
	return h
}

func (r *reader) level(s string) compactor.Level {
	l, err := compactor.ParseLevel(s)
	if err != nil {
		r.fault(err)
	}
	return l
}

func (r *reader) manual() (m compactor.Manual) {
	if r.fields["manual"] == "" {
		return m
	}
	asked := r.flow("manual")
	if list := asked["focus"]; list != "" {
		for _, w := range parts(strings.TrimSuffix(strings.TrimPrefix(list, "["), "]")) {
			m.Focus = append(m.Focus, plainScalar(w))
		}
	}
	if asked["max_tokens"] != "" {
		m.MaxTokens = int(r.integer(asked["max_tokens"]))
	}
	return m
}

func (r *reader) secrets() (all []compactor.Secrets) {
	if r.fields["redacted"] == "" {
		return nil
	}
	for _, part := range r.list("redacted") {
		kind, n, _ := strings.Cut(part, ": ")
		all = append(all, compactor.Secrets{Kind: kind, N: int(r.integer(n))})
	}
	return all
}

// flow parses `{a: b, c: [d, e]}` into unparsed values.
func (r *reader) flow(key string) map[string]string {
	all := map[string]string{}
	for _, part := range r.list(key) {
		name, value, _ := strings.Cut(part, ": ")
		all[name] = value
	}
	return all
}

// list parses the same into its entries in order: `a: b`, `c: [d, e]`.
func (r *reader) list(key string) []string {
	s, opened := strings.CutPrefix(r.fields[key], "{")
	s, closed := strings.CutSuffix(s, "}")
	if !opened || !closed {
		r.fault(fmt.Errorf("%s is %q, want {...}", key, r.fields[key]))
	}
	return parts(s)
}

// parts splits a list at its commas, except within brackets and quotes.
func parts(s string) (all []string) {
	depth, quoted, from := 0, false, 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
		case c == ',' && depth == 0:
			all = append(all, strings.TrimSpace(s[from:i]))
			from = i + 1
		}
	}
	if last := strings.TrimSpace(s[from:]); last != "" {
		all = append(all, last)
	}
	return all
}

// plainScalar removes the quotes of a scalar, if it has any.
func plainScalar(s string) string {
	var plain string
	if strings.HasPrefix(s, `"`) && json.Unmarshal([]byte(s), &plain) == nil {
		return plain
	}
	return s
}
