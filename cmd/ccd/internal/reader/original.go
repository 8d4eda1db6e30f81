package reader

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"ccd/archive"
	"ccd/internal/mark"
	"ccd/internal/redact"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

// Original is what a restore prints: a whole generation of a session, or what a pointer stands for.
type Original struct {
	Entry   *Entry
	Whole   bool // all of a session's file
	library *Library
	found   archive.Found
	raw     bool                // the lines that hold it
	line    *transcript.Pointer // the line that holds it, nil if it has not been read
	hidden  *secrets            // of it and of its copies, once they are known
	what    string              // is in this line
}

// Raw is the lines that hold the original.
func (o Original) Raw() Original {
	o.raw = true
	return o
}

// reading is the generation that holds it.
func (o Original) reading() Reading {
	r, err := o.library.Reading(o.Entry, o.found.Generation)
	if err != nil { // what is kept of its session is damaged
		r.N, r.Tip.Offset = o.found.Generation, math.MaxInt64
	}
	return r
}

// Exact is the original with its secrets: what `ccd restore` prints for a person.
func (o Original) Exact() Original {
	o.library, o.hidden = o.library.Exact(), &secrets{}
	return o
}

// Exact is the library with its secrets.
func (l *Library) Exact() *Library {
	place, exact := *l.Place, *l
	place.Agents = place.Agents.Exact()
	exact.Place = &place
	return &exact
}

// Write prints it as asked for, without its secrets if the library's agents leave them out. Nothing is locked or open in
// the archive while w is written to.
func (o Original) Write(ctx context.Context, w io.Writer) error {
	switch {
	case o.Whole:
		return o.redacted(w, func(w io.Writer) error { return o.writeSession(ctx, w) })
	case o.raw && o.line != nil:
		o.found.Pointer = *o.line
	case o.raw && o.found.Shape != transcript.Lines && o.found.Record != 0:
		return o.writeLines(ctx, w)
	}
	found, err := o.secrets(ctx)
	switch {
	case err != nil:
		return err
	case found.long:
		return o.redacted(w, func(w io.Writer) error { return o.writeParts(ctx, w, !o.raw, found) })
	}
	return o.writeParts(ctx, w, !o.raw, found)
}

func (o Original) writeSession(ctx context.Context, w io.Writer) error {
	if o.found.Generation == 0 {
		return nil
	}
	for seg, err := range o.reading().Bytes().Segments(ctx) {
		if err != nil {
			return fmt.Errorf("restore session %s: %w", o.Entry.ID, err)
		}
		if _, err := w.Write(seg.Data); err != nil {
			return fmt.Errorf("write output: %w", err)
		}
	}
	return nil
}

// writeLines prints the whole lines that hold the parts of a pointer, joined by newline.
func (o Original) writeLines(ctx context.Context, w io.Writer) error {
	first := true
	for r, err := range o.reading().Holding(ctx, o.found.Parts) {
		if err != nil {
			return err
		}
		line := r.Raw
		if !first {
			line = append([]byte{'\n'}, line...)
		}
		first = false
		if _, err := w.Write(line); err != nil {
			return fmt.Errorf("write output: %w", err)
		}
	}
	return nil
}

// writeParts prints the parts of a pointer joined by newline, without the secrets: as the agent saw them, or as they stand.
func (o Original) writeParts(ctx context.Context, w io.Writer, seen bool, hidden secrets) error {
	begun := 0
	var off int64
	for p, err := range o.library.Archive.Raw(ctx, o.found) {
		if err != nil {
			return fmt.Errorf("restore %s: %w", o.found.Hash.ID(), err)
		}
		if p.Index >= begun {
			off = p.Part.Span.Off
		}
		data := hidden.hide(p.Data, off)
		off += int64(len(p.Data))
		if seen && !p.More && o.found.Shape != transcript.Lines && p.Part.Span.Len == int64(len(p.Data)) {
			data = transcript.Original(p.Part.Kind, data)
		}
		if p.Index >= begun {
			if begun > 0 {
				data = append([]byte{'\n'}, data...)
			}
			begun = p.Index + 1
		}
		if _, err := w.Write(data); err != nil {
			return fmt.Errorf("write output: %w", err)
		}
	}
	return nil
}

// file is all of a generation.
func (l *Library) file(e *Entry, g archive.Generation) Original {
	p := transcript.Pointer{Hash: g.Sum, Record: 1, Last: e.Kept.Records, Parts: []transcript.Part{{Span: transcript.Span{Len: g.Tip.Offset}}}}
	return Original{library: l, Entry: e, Whole: true, hidden: &secrets{}, found: archive.Found{Pointer: p, Key: e.Key, Generation: g.N}}
}

// Info is what --info tells.
type Info struct {
	ID         mark.ID    `json:"id"`
	Kind       string     `json:"kind"`
	Shape      string     `json:"shape"`
	Agent      string     `json:"agent"`
	Session    string     `json:"session"`
	Generation int        `json:"generation"`
	Path       string     `json:"path"`
	Record     int        `json:"record"`
	Last       int        `json:"last_record"`
	Time       *time.Time `json:"time"`
	Offset     int64      `json:"offset"`
	Bytes      int64      `json:"bytes"`
	Size       int64      `json:"size"`
	SHA256     string     `json:"sha256"`
	Parts      int        `json:"parts"`
	Note       string     `json:"note"`
}

// counter counts what is written to it.
type counter int64

// Write implements io.Writer.
func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// Info reads the whole original, so that what it tells is checked.
func (o Original) Info(ctx context.Context) (Info, error) {
	i := Info{
		Agent: o.Entry.Agent, Session: mark.Name(o.Entry.ID), Path: mark.Name(o.Entry.Path), Generation: o.found.Generation,
		ID: o.found.Hash.ID(), Record: o.found.Record, Last: o.found.Last, Time: words.Known(o.found.Time),
		Parts: len(o.found.Parts), Note: o.found.Note, Shape: "single",
	}
	sum := sha256.New()
	var bytes, size counter
	if i.Kind = "transcript"; !o.Whole {
		i.Offset = o.found.Parts[0].Span.Off
		i.Kind, i.Shape = o.found.Pointer.Kind(), o.found.Shape.String()
	}
	write := o.writeSession
	if !o.Whole { // the raw span itself, not the lines around it
		write = func(ctx context.Context, w io.Writer) error { return o.writeParts(ctx, w, false, secrets{}) }
	}
	if err := write(ctx, io.MultiWriter(sum, &bytes)); err != nil {
		return i, err
	}
	if err := o.Write(ctx, &size); err != nil {
		return i, err
	}
	i.Bytes, i.Size, i.SHA256 = int64(bytes), int64(size), hex.EncodeToString(sum.Sum(nil))
	return i, nil
}

// ID names it.
func (o Original) ID() mark.ID { return o.found.Hash.ID() }

// Bytes is what it takes in the transcript.
func (o Original) Bytes() int64 { return sizeOf(o.found) }

// Lag returns how many bytes of a session's file are not archived, 0 for an earlier generation and for a part of one.
func (o Original) Lag() int64 {
	if !o.Whole || o.found.Generation != o.Entry.Tip().Generation {
		return 0
	}
	return o.Entry.Lag()
}

// About tells in one line what it is and where it stood.
func (o Original) About() string {
	where := o.Entry.Agent + " session " + mark.Inline(o.Entry.ID, 400)
	if o.Whole {
		return mark.New(o.ID(), "file") + " of " + where
	}
	kind := o.found.Pointer.Kind()
	switch {
	case o.found.Last > o.found.Record:
		where += fmt.Sprintf(", records %d to %d", o.found.Record, o.found.Last)
	case o.found.Record != 0:
		where += fmt.Sprintf(", record %d", o.found.Record)
	}
	if o.raw {
		kind += ", raw"
	}
	return mark.New(o.ID(), kind) + " of " + where + Naming(nil).time(", ", &o.found.Time)
}

// Heading is what stands above it in a list: "#12 · 14:05 · call Bash".
func (o Original) Heading() string {
	parts := []string{cmp.Or(o.what, o.found.Pointer.Kind())}
	if !o.found.Time.IsZero() {
		parts = append([]string{words.Local(o.found.Time)}, parts...)
	}
	return fmt.Sprintf("#%d · %s", o.found.Record, strings.Join(parts, " · "))
}

// maxApart is the size, in bytes, up to which an original is looked through for images.
const maxApart = 16 << 20

// Apart parts an original that holds images beside text. It returns none where there are none beside text: then the
// original is what write prints.
func (o Original) Apart(ctx context.Context) (text []byte, images [][]byte, err error) {
	may := slices.ContainsFunc(o.found.Parts, func(p transcript.Part) bool { // of one image alone there is nothing to part
		return p.Kind == transcript.Result || p.Kind == transcript.Image && len(o.found.Parts) > 1
	})
	if !may || o.raw || o.Whole || o.found.Shape == transcript.Lines || o.Bytes() > maxApart {
		return nil, nil, nil
	}
	hidden, err := o.secrets(ctx)
	if err != nil || hidden.long {
		return nil, nil, err
	}
	var texts [][]byte
	for p, err := range o.library.Archive.Raw(ctx, o.found) {
		if err != nil {
			return nil, nil, err
		}
		t, i := parted(p.Part.Kind, hidden.hide(p.Data, p.Part.Span.Off))
		texts, images = append(texts, t...), append(images, i...)
	}
	return bytes.Join(texts, []byte{'\n'}), images, nil
}

// Picture reports whether the original is an image and nothing else.
func (o Original) Picture() bool {
	return !o.Whole && !slices.ContainsFunc(o.found.Parts, func(p transcript.Part) bool { return p.Kind != transcript.Image })
}

// parted returns the texts and the images of one part. They share no memory with data.
func parted(kind transcript.Kind, data []byte) (texts, images [][]byte) {
	seen := bytes.Clone(transcript.Original(kind, data))
	if kind == transcript.Image {
		return nil, [][]byte{seen}
	}
	var blocks []struct {
		Source json.RawMessage `json:"source"`
		URL    json.RawMessage `json:"image_url"`
		Text   json.RawMessage `json:"text"`
	}
	if data = bytes.TrimSpace(data); !bytes.HasPrefix(data, []byte{'['}) || json.Unmarshal(data, &blocks) != nil {
		return [][]byte{seen}, nil
	}
	for _, b := range blocks {
		switch {
		case b.Source != nil:
			images = append(images, transcript.Original(transcript.Image, b.Source))
		case b.URL != nil:
			images = append(images, transcript.Original(transcript.Image, b.URL))
		case b.Text != nil:
			texts = append(texts, transcript.Original(transcript.Text, b.Text))
		default:
			return [][]byte{seen}, nil // a block of another kind: it is given as it stands
		}
	}
	if len(images) == 0 {
		return [][]byte{seen}, nil
	}
	return texts, images
}

// secrets are those of an original that a reader does not get: with offsets of its generation.
type secrets struct {
	known bool
	marks []redact.Mark
	// long is set if a line is longer than transcript.MaxLine, or one before it is damaged. Then there are no marks: what is printed is
	// searched as a text.
	long bool
}

// secrets reads the session up to the original, because the lines before it decide the number of each secret.
func (o Original) secrets(ctx context.Context) (secrets, error) {
	if o.library.Agents.Redact == nil || o.hidden.known {
		return *o.hidden, nil
	}
	found := secrets{known: true}
	for r, err := range o.reading().Holding(ctx, o.found.Parts) {
		if errors.As(err, new(*archive.DamageError)) { // perhaps of another original
			found = secrets{known: true, long: true}
			break
		}
		if err != nil {
			return secrets{}, err
		}
		found.add(r, r.Span.Off)
	}
	*o.hidden = found
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
	Record int     `json:"record"` // 0 in an attachment
	ID     mark.ID `json:"id"`     // of the item or the attachment; "" if no item of the record has it
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
		p.ID = r.Sum().ID()
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
