package archive

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// ranged returns the pointer to the lines from off to end of data.
func ranged(data []byte, from, to int) transcript.Pointer {
	var ids []mark.ID
	all := bytes.SplitAfter(data, []byte("\n"))
	off, size := 0, 0
	for i, line := range all {
		if i < from {
			off += len(line)
			continue
		}
		if i >= to {
			break
		}
		size += len(line)
		ids = append(ids, mark.Sum(bytes.TrimSuffix(line, []byte("\n"))).ID())
	}
	if to < len(all) {
		size-- // the last line end is not part of the span
	}
	return transcript.Pointer{
		Hash: mark.Combine(ids), Shape: transcript.Lines, Record: from + 1, Last: to, Note: "range",
		Parts: []transcript.Part{{Span: transcript.Span{Off: int64(off), Len: int64(size)}}},
	}
}

func single(data []byte, off, n int) transcript.Pointer {
	return transcript.Pointer{
		Hash: mark.Sum(data[off : off+n]), Record: 3, Last: 3, Note: "output", Time: time.Unix(1769682600, 5).UTC(),
		Parts: []transcript.Part{{Span: transcript.Span{Off: int64(off), Len: int64(n)}, Kind: transcript.Result}},
	}
}

func listed(data []byte, spans ...transcript.Span) transcript.Pointer {
	p := transcript.Pointer{Shape: transcript.List, Record: 1, Last: 9, Note: "merged"}
	var ids []mark.ID
	for _, s := range spans {
		p.Parts = append(p.Parts, transcript.Part{Span: s, Kind: transcript.Text})
		ids = append(ids, mark.Sum(data[s.Off:s.End()]).ID())
	}
	p.Hash = mark.Combine(ids)
	return p
}

func TestPublishLookupRaw(t *testing.T) {
	t.Parallel()
	a := openAt(t, filepath.Join(t.TempDir(), "archive.db"), Options{})
	ctx := context.Background()
	s := session("s")
	data := slices.Concat(talk(1, 3<<20), []byte("\n\nx\n"), bytes.Repeat([]byte("w"), transcript.MaxLine+5), []byte("\n\n"))
	fill(t, a, s, 1, data, whole)
	n := bytes.Count(data, []byte("\n"))
	at := transcript.Cursor{Generation: 1, Offset: int64(len(data))}
	long := bytes.IndexByte(data, 'w')
	for bytes.Count(data[long:long+9], []byte("w")) != 9 {
		long += 1 + bytes.IndexByte(data[long+1:], 'w')
	}
	pointers := []transcript.Pointer{
		single(data, 17, 400), single(data, 0, 1<<20), single(data, 5, 0), single(data, long, transcript.MaxLine+5),
		ranged(data, 0, 64), ranged(data, 2, 3), ranged(data, 0, n), ranged(data, 1, n-1), ranged(data, n-4, n-2),
		listed(data, transcript.Span{Off: 5, Len: 9}, transcript.Span{Off: 2 << 20, Len: 70}, transcript.Span{Off: 3, Len: 2}),
	}
	calls := 0
	pub := Publication{Key: s.Key, At: at, Pointers: pointers, Replace: func() ([]byte, error) {
		calls++
		return []byte("new"), nil
	}}
	must(t, a.Publish(ctx, pub))
	if err := a.Publish(ctx, pub); !errors.Is(err, ErrStale) || calls != 1 {
		t.Errorf("published with the old state: %v, %d calls", err, calls)
	}
	pub.State, pub.Replace = []byte("new"), nil
	if err := a.Publish(ctx, pub); err != nil {
		t.Errorf("published once more: %v", err)
	}
	for _, p := range pointers {
		found, err := a.Lookup(ctx, p.Hash.ID())
		if err != nil || len(found) != 1 {
			t.Fatalf("Lookup(%s) = %v, %v", p.Hash.ID(), found, err)
		}
		if diff := cmp.Diff(Found{p, s.Key, 1}, found[0]); diff != "" && !p.Time.IsZero() {
			t.Errorf("Lookup (-want +got):\n%s", diff)
		}
		got := make([][]byte, len(p.Parts))
		for piece, err := range a.Raw(ctx, found[0]) {
			if err != nil {
				t.Fatalf("Raw(%s): %v", p.Note, err)
			}
			got[piece.Index] = append(got[piece.Index], piece.Data...)
			if piece.More != (len(got[piece.Index]) < int(piece.Part.Span.Len)) {
				t.Errorf("More = %v after %d of %d bytes", piece.More, len(got[piece.Index]), piece.Part.Span.Len)
			}
		}
		for i, part := range p.Parts {
			if !bytes.Equal(got[i], data[part.Span.Off:part.Span.End()]) {
				t.Errorf("%s, part %d: %d bytes came back of %d", p.Note, i, len(got[i]), part.Span.Len)
			}
		}
	}
	short, err := a.Lookup(ctx, mark.ID(strings.ToUpper(string(pointers[0].Hash.ID()[:4]))))
	if err != nil || len(short) != 1 {
		t.Errorf("Lookup of four characters: %v, %v", short, err)
	}
	if _, err := a.Lookup(ctx, "abc"); err == nil {
		t.Error("three characters were taken")
	}
	wrong := Found{single(data, 17, 400), s.Key, 1}
	wrong.Parts[0].Span.Off++
	for p, err := range a.Raw(ctx, wrong) {
		var d *DamageError
		if !errors.As(err, &d) || d.ID != wrong.Hash.ID() || len(p.Data) > 0 {
			t.Errorf("bytes that are not the pointer's: %q, %v", p.Data, err)
		}
	}
	sound(t, a)
	lying := single(data, 17, 400)
	lying.Hash[31] ^= 1 // as if SHA-256 had given it 60 equal bits: both are listed, and Verify finds the one that lies
	pub.Pointers = []transcript.Pointer{lying}
	must(t, a.Publish(ctx, pub))
	if both, err := a.Lookup(ctx, lying.Hash.ID()); err != nil || len(both) != 2 {
		t.Errorf("Lookup = %v, %v", both, err)
	}
	if r, err := a.Verify(ctx, nil); err != nil || len(r.Damage) != 1 || r.Damage[0].ID != lying.Hash.ID() {
		t.Errorf("Verify = %+v, %v", r, err)
	}
}

func TestPublishRefusesWhatHasMovedOn(t *testing.T) {
	t.Parallel()
	a := open(t)
	ctx := context.Background()
	s := session("s")
	data := talk(1, 9000)
	fill(t, a, s, 1, data, whole)
	at := transcript.Cursor{Generation: 1, Offset: int64(len(data))}
	boom := errors.New("disk on fire")
	good := Publication{Key: s.Key, At: at, Pointers: []transcript.Pointer{single(data, 0, 30)}, Replace: func() ([]byte, error) {
		t.Error("it was replaced")
		return nil, nil
	}}
	for name, c := range map[string]struct {
		change func(p *Publication)
		want   error
	}{
		"tip":        {func(p *Publication) { p.At.Offset-- }, ErrStale},
		"generation": {func(p *Publication) { p.At.Generation++ }, ErrStale},
		"state":      {func(p *Publication) { p.State = []byte("another") }, ErrStale},
		"session":    {func(p *Publication) { p.Key.ID = "nobody" }, ErrNotFound},
		"not archived": {func(p *Publication) {
			p.Pointers = []transcript.Pointer{{Parts: []transcript.Part{{Span: transcript.Span{Off: 0, Len: 1 << 30}}}}}
		}, nil},
		"failing replace": {func(p *Publication) { p.Replace = func() ([]byte, error) { return []byte("no"), boom } }, boom},
	} {
		p := good
		c.change(&p)
		err := a.Publish(ctx, p)
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	held, err := a.Session(ctx, s.Key)
	if err != nil || held.State != nil {
		t.Errorf("state = %q, %v", held.State, err)
	}
	// What a failed Replace published stays found: an ID may resolve without a companion, never the other way.
	if found, err := a.Lookup(ctx, good.Pointers[0].Hash.ID()); len(found) != 1 || err != nil {
		t.Errorf("Lookup after a failed Replace = %v, %v", found, err)
	}
}

// Elements of a JSON array are records without being lines: no ID of theirs can be computed from the range's bytes.
func TestRangeOfArrayElements(t *testing.T) {
	t.Parallel()
	a := open(t)
	s := session("s")
	s.Agent = "messages"
	data := []byte(`[{"role":"user","content":"a"},` + "\n" + `  {"role":"user","content":"b"}]`)
	fill(t, a, s, 1, data, whole)
	var ids []mark.ID
	for _, element := range []string{`{"role":"user","content":"a"}`, `{"role":"user","content":"b"}`} {
		ids = append(ids, mark.Sum([]byte(element)).ID())
	}
	p := transcript.Pointer{
		Hash: mark.Combine(ids), Shape: transcript.Lines, Record: 1, Last: 2,
		Parts: []transcript.Part{{Span: transcript.Span{Off: 1, Len: int64(len(data) - 2)}}},
	}
	for _, c := range []struct {
		key transcript.Key
		ok  bool
	}{{s.Key, true}, {transcript.Key{Agent: "claude-code", ID: "s"}, false}} {
		if c.key != s.Key {
			other := s
			other.Key = c.key
			fill(t, a, other, 1, data, whole)
		}
		var got []byte
		var err error
		for piece, e := range a.Raw(context.Background(), Found{Pointer: p, Key: c.key, Generation: 1}) {
			got, err = append(got, piece.Data...), e
		}
		if (err == nil) != c.ok || c.ok && string(got) != string(data[1:len(data)-1]) {
			t.Errorf("%s: %q, %v", c.key.Agent, got, err)
		}
	}
}
