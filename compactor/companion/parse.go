package companion

import (
	"fmt"
	"slices"
	"strings"

	"ccd/compactor"
)

// Parsed is a parsed companion. Front matter, lead and sections, joined, are its text.
type Parsed struct {
	Fields   map[string]string // front matter: key to value as it stands, quotes undone
	Lead     string
	Sections []compactor.Section
}

// Parse parses a companion. It fails if ccd did not write it.
func Parse(text []byte) (Parsed, error) {
	s := string(text)
	if !strings.HasPrefix(s, magic) {
		return Parsed{}, fmt.Errorf("parse companion: %w", ErrForeign)
	}
	head, body, ok := strings.Cut(s[len("---\n"):], "\n---\n")
	if !ok {
		return Parsed{}, fmt.Errorf("parse companion: front matter has no end")
	}
	p := Parsed{Fields: map[string]string{}}
	for line := range strings.Lines(head) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		p.Fields[key] = plainScalar(value)
	}
	p.Lead, p.Sections = split(body)
	return p, nil
}

// split splits a body at its headings. Quoted text contains none, because each of its lines begins with the quote sign.
func split(body string) (lead string, sections []compactor.Section) {
	var b strings.Builder
	name := ""
	flush := func() {
		if name == "" {
			lead = b.String()
		} else {
			sections = append(sections, compactor.Section{Name: name, Body: b.String()})
		}
		b.Reset()
	}
	for line := range strings.Lines(body) {
		if h, ok := strings.CutPrefix(line, "## "); ok && h != "" && h[0] >= 'A' && h[0] <= 'Z' { // that of a message begins with its number
			flush()
			name = strings.TrimSuffix(h, "\n")
			continue
		}
		b.WriteString(line)
	}
	flush()
	return lead, sections
}

// Check returns an error if a companion is incomplete: every section in the front matter must be in its place, and the text
// must have the stated number of tokens.
func (p Parsed) Check() error {
	var names []string
	body := p.Lead
	for _, s := range p.Sections {
		names = append(names, s.Name)
		body += "## " + s.Name + "\n" + s.Body
	}
	var want []string
	for _, part := range strings.Split(strings.Trim(p.Fields["sections"], "{}"), ", ") {
		if name, _, ok := strings.Cut(part, ": "); ok {
			want = append(want, name)
		}
	}
	if !slices.Equal(names, want) {
		return fmt.Errorf("check companion: sections %v, the front matter names %v", names, want)
	}
	if tokens := fmt.Sprintf("companion: %d,", Tokens(body)); !strings.Contains(p.Fields["tokens"], tokens) {
		return fmt.Errorf("check companion: %s by its length, the front matter says %s", tokens, p.Fields["tokens"])
	}
	return nil
}
