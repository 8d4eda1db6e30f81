package reader

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"ccd/internal/redact"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

// secrets are those of an original that a reader does not get: with offsets of its generation.
type secrets struct {
	marks []redact.Mark
	// long is set if a line is longer than transcript.MaxLine. Such a line has no marks: what is printed of it is
	// searched as a text.
	long bool
}

// secrets reads the lines that hold the original. Only if they have a secret is the rest of the session read, whose lines decide
// the number of each.
func (o Original) secrets(ctx context.Context) (found secrets, err error) {
	rules := o.library.Agents.Redact
	switch {
	case rules == nil:
		return secrets{}, nil
	case o.hidden != nil:
		return *o.hidden, nil
	}
	numbers, g := rules.Session(), o.reading()
	numbers.Whole = g.Numbers(ctx)
	var done int64
	for _, p := range o.found.Parts {
		if p.Span.End() <= done && p.Span.Len > 0 { // in a line that another part is in
			continue
		}
		lines, err := g.Lines(ctx, p.Span)
		if err != nil {
			return secrets{}, err
		}
		if g.Unlined() || lines.Len > transcript.MaxLine { // where its records are only reading it from its beginning tells
			return o.allSecrets(ctx)
		}
		text, err := g.Bytes().Span(ctx, lines)
		if err != nil {
			return secrets{}, err
		}
		at := int(lines.Off)
		for line := range bytes.Lines(text) {
			for _, m := range numbers.Marks(bytes.TrimSuffix(line, []byte("\n"))) {
				m.From, m.To = m.From+at, m.To+at
				found.marks = append(found.marks, m)
			}
			at += len(line)
		}
		done = lines.End()
	}
	return found, nil
}

// allSecrets reads the session up to the original.
func (o Original) allSecrets(ctx context.Context) (found secrets, err error) {
	for r, err := range o.reading().Holding(ctx, o.found.Parts) {
		if err != nil {
			return secrets{}, err
		}
		found.add(r, r.Span.Off)
	}
	return found, nil
}

// add adds the secrets of a record that begins at an offset.
func (s *secrets) add(r *transcript.Record, off int64) {
	s.long = s.long || r.Long
	for _, m := range r.Marks {
		m.From, m.To = m.From+int(off), m.To+int(off)
		s.marks = append(s.marks, m)
	}
}

// hide returns the bytes at off of the generation without their secrets.
func (s secrets) hide(data []byte, off int64) []byte { return redact.Apply(data, int(off), s.marks) }

// redacted calls write with a writer to w that searches what is written as one text.
func (o Original) redacted(w io.Writer, write func(io.Writer) error) error {
	s := redact.NewStream(o.library.Agents.Redact.Session(), w)
	if err := write(s); err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}

// Hidden says which secrets Write leaves out, with their kinds: "3 secrets (aws-key 2, password 1)". It is "" if it
// leaves out none.
func (o Original) Hidden(ctx context.Context) (string, error) {
	if o.library.Agents.Redact == nil {
		return "", nil
	}
	if o.Whole {
		s := redact.NewStream(o.library.Agents.Redact.Session(), io.Discard)
		err := o.writeSession(ctx, s)
		if err == nil {
			err = s.Close()
		}
		return Kinds(s.Kinds()), err
	}
	found, err := o.secrets(ctx)
	if err != nil {
		return "", err
	}
	type secret struct {
		kind string
		n    int
	}
	seen, kinds := map[secret]bool{}, map[string]int{}
	for _, m := range found.marks {
		in := slices.ContainsFunc(o.found.Parts, func(p transcript.Part) bool {
			return o.raw || int64(m.From) < p.Span.End() && p.Span.Off < int64(m.To)
		})
		if key := (secret{m.Kind, m.N}); in && !seen[key] {
			seen[key] = true
			kinds[m.Kind]++
		}
	}
	return Kinds(kinds), nil
}

// Kinds formats how many different secrets of each kind there are. It is "" if there are none.
func Kinds(kinds map[string]int) string {
	var all []string
	total := 0
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		all = append(all, fmt.Sprintf("%s %d", kind, kinds[kind]))
		total += kinds[kind]
	}
	if total == 0 {
		return ""
	}
	return words.Count(total, "secret") + " (" + strings.Join(all, ", ") + ")"
}
