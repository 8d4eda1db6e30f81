package reader

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"ccd/archive"
	"ccd/internal/mark"
	"ccd/internal/redact"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

// secrets are those of an original that a reader does not get: with offsets of its generation.
type secrets struct {
	marks []redact.Mark
	// long is set if a line is longer than transcript.MaxLine, or one before it is damaged. Then there are no marks: what is printed is
	// searched as a text.
	long bool
}

// secrets reads the session up to the original, because the lines before it decide the number of each secret.
func (o Original) secrets(ctx context.Context) (found secrets, err error) {
	if o.library.Agents.Redact == nil {
		return secrets{}, nil
	}
	if o.hidden != nil {
		return *o.hidden, nil
	}
	for r, err := range o.reading().Holding(ctx, o.found.Parts) {
		if errors.As(err, new(*archive.DamageError)) { // perhaps of another original
			return secrets{long: true}, nil
		}
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
	s := redact.NewStream(o.library.Agents.Redact.Session(), io.Discard)
	err := o.Exact().Write(ctx, s)
	if err == nil {
		err = s.Close()
	}
	return Kinds(s.Kinds()), err
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

// Secret is a secret of a session, without its text.
type Secret struct {
	Kind       string        `json:"kind"`
	N          int           `json:"n"`          // its number in the session's views; 0 if the session has too many
	Generation int           `json:"generation"` // the newest one that has it
	Count      int           `json:"count"`      // times in that generation
	Places     []SecretPlace `json:"places"`
}

// SecretPlace is a part of a record that has a secret.
type SecretPlace struct {
	Record int     // 0 in an attachment
	ID     mark.ID // of the item or the attachment; "" if no item of the record has it
}

// MarshalJSON implements json.Marshaler: what is not there is null.
func (p SecretPlace) MarshalJSON() ([]byte, error) {
	of := struct {
		Record *int     `json:"record"`
		ID     *mark.ID `json:"id"`
	}{&p.Record, &p.ID}
	if p.Record == 0 {
		of.Record = nil
	}
	if p.ID == "" {
		of.ID = nil
	}
	return json.Marshal(of)
}

// Secrets returns the secrets of all generations of a session, those of the newest first, and how many records were too
// long to be searched. An error does not make the secrets before it invalid.
func (l *Library) Secrets(ctx context.Context, s *Entry) (all []Secret, long int, err error) {
	numbers := l.Agents.Redact.Session() // one for all generations, so that the same secret has the same number
	type name struct {
		kind string
		n    int
	}
	known := map[name]int{}
	for _, g := range slices.Backward(s.Generations) {
		one := l.At(s, g)
		d := one.Decoder()
		d.Redact = numbers
		for r, rerr := range one.decoded(ctx, d) {
			if rerr != nil {
				err = cmp.Or(err, rerr)
				break
			}
			if r.Long {
				long++
			}
			for _, m := range r.Marks {
				key := name{m.Kind, m.N}
				i, ok := known[key]
				if !ok {
					i, known[key] = len(all), len(all)
					all = append(all, Secret{Kind: m.Kind, N: m.N, Generation: g.N})
				}
				if all[i].Generation == g.N {
					all[i].add(placeOf(s, g, r, r.Span.Off+int64(m.From)))
				}
			}
		}
	}
	return all, long, err
}

func (s *Secret) add(p SecretPlace) {
	s.Count++
	if n := len(s.Places); n == 0 || !slices.Contains(s.Places[max(0, n-8):], p) {
		s.Places = append(s.Places, p)
	}
}

// placeOf returns what of a record is at an offset of a generation.
func placeOf(s *Entry, g archive.Generation, r *transcript.Record, at int64) SecretPlace {
	if s.Class == transcript.Attachment {
		return SecretPlace{ID: g.Sum.ID()}
	}
	p := SecretPlace{Record: r.N}
	for i := range r.Items {
		if it := &r.Items[i]; it.Span.Off <= at && at < it.Span.End() {
			p.ID = it.Sum().ID()
		}
	}
	if p.ID == "" && g.N != s.Tip().Generation { // #N names a record of the last one
		p.ID = r.Hash.ID()
	}
	return p
}

// Forget returns what to pass to `ccd archive forget` to remove the items that have a secret, or the whole records if it is also
// outside their items. session is the session's name on a command line.
func (s Secret) Forget(session string) []string {
	whole := map[int]bool{}
	for _, p := range s.Places {
		whole[p.Record] = whole[p.Record] || p.ID == ""
	}
	args, have := []string{}, map[string]bool{}
	for _, p := range s.Places {
		arg := string(p.ID)
		if whole[p.Record] {
			arg = fmt.Sprintf("%s#%d", session, p.Record)
		}
		if !have[arg] {
			args, have[arg] = append(args, arg), true
		}
	}
	return args
}
