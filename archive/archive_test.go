package archive

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	bolt "go.etcd.io/bbolt"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// open returns an archive in a temporary directory that is verified when the test ends.
func open(t testing.TB) *Archive {
	t.Helper()
	a := openAt(t, filepath.Join(t.TempDir(), "state", "archive.db"), Options{})
	t.Cleanup(func() {
		if !t.Failed() {
			sound(t, a)
		}
	})
	return a
}

func openAt(t testing.TB, path string, o Options) *Archive {
	t.Helper()
	a, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// sound fails the test unless Verify finds no damage.
func sound(t testing.TB, a *Archive) Report {
	t.Helper()
	r, err := a.Verify(context.Background(), nil)
	if err != nil {
		t.Fatalf("Verify: %v", err)
	}
	for _, d := range r.Damage {
		t.Errorf("Verify: %v", d)
	}
	return r
}

func session(id string) transcript.Session {
	return transcript.Session{
		Key:  transcript.Key{Agent: "claude-code", ID: id},
		Path: "/home/ann/.claude/projects/-tmp/" + id + ".jsonl", Root: "/home/ann/.claude/projects",
		Source: "projects/-tmp/" + id + ".jsonl",
	}
}

// segment returns data as the segment of generation gen at off.
func segment(gen int, off int64, data []byte) transcript.Segment {
	return transcript.Segment{
		Start: transcript.Cursor{Generation: gen, Offset: off},
		Data:  data,
		End: transcript.Cursor{
			Generation: gen, Offset: off + int64(len(data)),
			Head: transcript.Fingerprint{N: 1, Sum: mark.Sum([]byte{byte(gen)})},
			Back: transcript.Fingerprint{N: 2, Sum: mark.Sum(data)},
		},
	}
}

// fill appends data in portions of at most step bytes.
func fill(t testing.TB, a *Archive, s transcript.Session, gen int, data []byte, step func() int) {
	t.Helper()
	for off := 0; ; {
		n := min(step(), len(data)-off)
		if err := a.Append(context.Background(), s, segment(gen, int64(off), data[off:off+n])); err != nil {
			t.Fatal(err)
		}
		if off += n; off == len(data) {
			return
		}
	}
}

func whole() int { return 8 << 20 }

func everything(r *Reader) ([]byte, transcript.Cursor, error) {
	var out []byte
	var end transcript.Cursor
	for seg, err := range r.Segments(context.Background()) {
		if err != nil {
			return out, end, err
		}
		out = append(out, seg.Data...)
		end = seg.End
	}
	return out, end, nil
}

// talk returns n bytes or more of invented transcript lines, the same for the same seed.
func talk(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 7))
	words := strings.Fields("the daemon reads a file and writes one line for every record that it has not seen before " +
		"error warning build test ok FAIL main.go server.go config.toml return nil if err panic goroutine")
	var b bytes.Buffer
	for b.Len() < n {
		fmt.Fprintf(&b, `{"type":"assistant","uuid":"%016x","n":%d,"message":{"content":[{"type":"text","text":"`, r.Uint64(), b.Len())
		for range 20 + r.IntN(300) {
			b.WriteString(words[r.IntN(len(words))])
			b.WriteByte(' ')
			if r.IntN(30) == 0 {
				fmt.Fprintf(&b, "%x", r.Uint32())
			}
		}
		b.WriteString("\"}]}}\n")
	}
	return b.Bytes()
}

func noise(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 9))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// frames returns the frames of a generation, and the bytes of its tail.
func frames(t testing.TB, a *Archive, s transcript.Session, gen int) (frames []block, tail int64) {
	t.Helper()
	err := a.view(context.Background(), func(tx *bolt.Tx) error {
		r, _, err := getSession(tx, s.Key)
		if err != nil {
			return err
		}
		st := newStream(r.Num, gen)
		c := tx.Bucket(bucketManifest).Cursor()
		for k, v := c.Seek(st[:]); bytes.HasPrefix(k, st[:]); k, v = c.Next() {
			b, err := parseBlock(k, v)
			if err != nil {
				return err
			}
			if b.Tail {
				tail += b.Len
				continue
			}
			b.ID = 0
			frames = append(frames, b)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return frames, tail
}

func TestRestoreIsExactHoweverItWasCut(t *testing.T) {
	long := slices.Concat(talk(1, 300<<10), bytes.Repeat([]byte("x"), 5<<20), []byte("\n"), talk(2, 200<<10), []byte("no line end"))
	for name, data := range map[string][]byte{
		"lines":        talk(3, 6<<20),
		"noise":        noise(1, 3<<20),
		"a long line":  long,
		"blank lines":  bytes.Repeat([]byte("\n"), 3<<20),
		"CRLF":         bytes.ReplaceAll(talk(4, 1<<20), []byte("\n"), []byte("\r\n")),
		"one byte":     []byte("x"),
		"one line end": []byte("\n"),
		"empty":        nil,
	} {
		t.Run(name, func(t *testing.T) {
			a := open(t)
			r := rand.New(rand.NewPCG(5, 5))
			portions := []func() int{
				whole,
				func() int { return 1 + r.IntN(700<<10) },
				func() int { return 300<<10 + r.IntN(4<<20) },
			}
			var first []block
			for i, step := range portions {
				s := session(fmt.Sprint("s", i))
				fill(t, a, s, 1, data, step)
				got, end, err := everything(a.Reader(s.Key, 1))
				if err != nil || !bytes.Equal(got, data) {
					t.Fatalf("portions %d: %d bytes came back of %d, %v", i, len(got), len(data), err)
				}
				held, err := a.Session(context.Background(), s.Key)
				if err != nil {
					t.Fatal(err)
				}
				if held.Tip() != end || held.Generations[0].Sum != mark.Sum(data) || held.Session != s {
					t.Errorf("Session = %+v, end %+v", held, end)
				}
				all, tail := frames(t, a, s, 1)
				if i == 0 {
					first = all
				}
				if diff := cmp.Diff(first, all); diff != "" {
					t.Errorf("portions %d are cut otherwise (-whole +portions):\n%s", i, diff)
				}
				if tail > maxFrame {
					t.Errorf("the tail has %d bytes", tail)
				}
			}
		})
	}
}

func TestSegmentsAreWholeLines(t *testing.T) {
	a := open(t)
	s := session("s")
	data := slices.Concat(talk(1, 9<<20), bytes.Repeat([]byte("y"), 6<<20), []byte("\n"), bytes.Repeat([]byte("z"), 20<<20), talk(2, 1000))
	fill(t, a, s, 1, data, whole)
	at := int64(0)
	pieces := 0
	for seg, err := range a.Reader(s.Key, 0).Segments(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		if seg.Start.Offset != at || seg.End.Offset != at+int64(len(seg.Data)) || seg.Start.Generation != 1 {
			t.Fatalf("segment from %+v to %+v at %d", seg.Start, seg.End, at)
		}
		last := seg.End.Offset == int64(len(data))
		if seg.Rest != last || (seg.End.Head.N != 0) != last {
			t.Errorf("segment to %d: Rest %v, fingerprint %v", seg.End.Offset, seg.Rest, seg.End.Head.N)
		}
		if !bytes.HasSuffix(seg.Data, []byte("\n")) {
			pieces++
			if len(seg.Data) < pieceSize {
				t.Errorf("a piece of a line of %d bytes only", len(seg.Data))
			}
		} else if bytes.IndexByte(seg.Data, '\n') != len(seg.Data)-1 && len(seg.Data) > 4<<20 {
			t.Errorf("a segment of several lines has %d bytes", len(seg.Data))
		}
		at = seg.End.Offset
	}
	if at != int64(len(data)) || pieces == 0 {
		t.Errorf("ended at %d of %d with %d pieces", at, len(data), pieces)
	}
}

func TestSpan(t *testing.T) {
	a := open(t)
	s := session("s")
	data := talk(1, 5<<20)
	r := rand.New(rand.NewPCG(1, 1))
	fill(t, a, s, 1, data, func() int { return 1 + r.IntN(900<<10) })
	reader := a.Reader(s.Key, 1)
	for range 500 {
		off := r.IntN(len(data))
		n := r.IntN(min(len(data)-off, 1<<r.IntN(22)) + 1)
		got, err := reader.Span(context.Background(), transcript.Span{Off: int64(off), Len: int64(n)})
		if err != nil || !bytes.Equal(got, data[off:off+n]) {
			t.Fatalf("Span(%d, %d): %v", off, n, err)
		}
		if reader.size > cacheSize {
			t.Fatalf("the cache holds %d bytes", reader.size)
		}
	}
	// A reader that is older than what was appended, and than frames that took the place of pieces it holds.
	more := talk(2, 4<<20)
	for off := 0; off < len(more); {
		n := min(1+r.IntN(500<<10), len(more)-off)
		if err := a.Append(context.Background(), s, segment(1, int64(len(data)+off), more[off:off+n])); err != nil {
			t.Fatal(err)
		}
		off += n
		from := max(0, len(data)+off-3<<20)
		got, err := reader.Span(context.Background(), transcript.Span{Off: int64(from), Len: int64(len(data) + off - from)})
		if err != nil || !bytes.Equal(got, slices.Concat(data, more)[from:len(data)+off]) {
			t.Fatalf("Span behind an old reader: %v", err)
		}
	}
	for _, bad := range []transcript.Span{{Off: -1, Len: 2}, {Off: 0, Len: -1}, {Off: 9 << 20, Len: 1 << 20}, {Off: 1 << 62, Len: 1 << 62}} {
		if _, err := reader.Span(context.Background(), bad); !errors.Is(err, ErrNotFound) {
			t.Errorf("Span(%v) = %v, want ErrNotFound", bad, err)
		}
	}
}

func TestAppendComparesTheTip(t *testing.T) {
	a := open(t)
	ctx := context.Background()
	s := session("s")
	one := segment(0, 0, []byte("one\n")) // the zero cursor begins generation 1
	one.End.Generation = 1
	if err := a.Append(ctx, s, one); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		seg transcript.Segment
		ok  bool
	}{
		"again":               {segment(1, 0, []byte("one\n")), false},
		"a gap":               {segment(1, 5, []byte("x")), false},
		"generation too far":  {segment(3, 0, []byte("x")), false},
		"inside a generation": {segment(2, 4, []byte("x")), false},
	} {
		if err := a.Append(ctx, s, c.seg); !errors.Is(err, ErrTip) {
			t.Errorf("%s: %v, want ErrTip", name, err)
		}
	}
	lying := segment(1, 4, []byte("two\n"))
	lying.End.Offset++
	if err := a.Append(ctx, s, lying); err == nil || errors.Is(err, ErrTip) {
		t.Errorf("a segment that lies of its length: %v", err)
	}
	moved := s
	moved.Path += ".zst"
	moved.Packed = true
	for _, seg := range []transcript.Segment{segment(1, 4, []byte("two\n")), segment(2, 0, []byte("new life\n")), segment(2, 9, nil)} {
		if err := a.Append(ctx, moved, seg); err != nil {
			t.Fatal(err)
		}
	}
	got, err := a.Session(ctx, s.Key)
	if err != nil || len(got.Generations) != 2 || got.Session != moved {
		t.Fatalf("Session = %+v, %v", got, err)
	}
	for i, want := range []string{"one\ntwo\n", "new life\n"} {
		data, _, err := everything(a.Reader(s.Key, i+1))
		if string(data) != want || err != nil {
			t.Errorf("generation %d = %q, %v", i+1, data, err)
		}
	}
	if got.Tip().Generation != 2 || got.Generations[1].Tip.Back.Sum != mark.Sum(nil) {
		t.Errorf("tip = %+v", got.Tip())
	}
}

func TestNothingIsMadeBeforeTheFirstWrite(t *testing.T) {
	dir := t.TempDir()
	ctx := context.Background()
	a := openAt(t, filepath.Join(dir, "deep", "archive.db"), Options{})
	if _, err := a.Session(ctx, session("s").Key); !errors.Is(err, ErrNotFound) {
		t.Errorf("Session: %v", err)
	}
	if all, err := a.Sessions(ctx); len(all) != 0 || err != nil {
		t.Errorf("Sessions: %v, %v", all, err)
	}
	if found, err := a.Lookup(ctx, "abcd"); len(found) != 0 || err != nil {
		t.Errorf("Lookup: %v, %v", found, err)
	}
	if _, _, err := everything(a.Reader(session("s").Key, 0)); !errors.Is(err, ErrNotFound) {
		t.Errorf("Segments: %v", err)
	}
	if z, err := a.Size(ctx); z != (Size{}) || err != nil {
		t.Errorf("Size: %v, %v", z, err)
	}
	sound(t, a)
	if list, _ := os.ReadDir(dir); len(list) != 0 {
		t.Errorf("%v was made", list)
	}
	if err := a.SetState(ctx, session("s"), []byte("x")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{"deep": 0o700 | os.ModeDir, "deep/archive.db": 0o600, "deep/archive.lock": 0o600, "deep/archive.gate": 0o600} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v, want %v", name, info.Mode(), err, want)
		}
	}
	if list, _ := os.ReadDir(filepath.Join(dir, "deep")); len(list) != 3 {
		t.Errorf("there are %v", list)
	}
}

func TestStateAndSessions(t *testing.T) {
	a := open(t)
	ctx := context.Background()
	for i := range 2*pageSize + 10 {
		if i%500 == 0 || i < 3 {
			s := session(fmt.Sprintf("s%05d", i))
			if err := a.Append(ctx, s, segment(1, 0, []byte("x\n"))); err != nil {
				t.Fatal(err)
			}
		}
	}
	err := a.update(ctx, 0, func(tx *bolt.Tx) error { // as SetState does, in one transaction
		for i := range 2*pageSize + 10 {
			if err := putSession(tx, session(fmt.Sprintf("t%05d", i)).Key, sessionRecord{Num: uint64(1000 + i)}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.SetState(ctx, session("t00001"), []byte("mine")); err != nil {
		t.Fatal(err)
	}
	all, err := a.Sessions(ctx)
	if err != nil || len(all) != 2*pageSize+10+5 {
		t.Fatalf("%d sessions, %v", len(all), err)
	}
	if !slices.IsSortedFunc(all, func(x, y Session) int { return strings.Compare(x.ID, y.ID) }) {
		t.Error("sessions are not in order")
	}
	got, err := a.Session(ctx, session("t00001").Key)
	if string(got.State) != "mine" || err != nil || got.Path != session("t00001").Path || got.Tip() != (transcript.Cursor{}) {
		t.Errorf("Session = %+v, %v", got, err)
	}
	if err := a.Append(ctx, session("t00001"), segment(1, 0, []byte("x"))); err != nil {
		t.Errorf("Append to a session known by its state: %v", err)
	}
	z, err := a.Size(ctx)
	if err != nil || z.Raw != 5*2+1 || z.File == 0 {
		t.Errorf("Size = %+v, %v", z, err)
	}
}

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
	a := open(t)
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
	if err := a.Publish(ctx, pub); err != nil {
		t.Fatal(err)
	}
	if err := a.Publish(ctx, pub); !errors.Is(err, ErrStale) || calls != 1 {
		t.Errorf("published with the old state: %v, %d calls", err, calls)
	}
	pub.State, pub.Replace = []byte("new"), nil
	if err := a.Publish(ctx, pub); err != nil {
		t.Errorf("published once more: %v", err)
	}
	for _, p := range pointers {
		found, err := a.Lookup(ctx, string(p.Hash.ID()))
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
	short, err := a.Lookup(ctx, strings.ToUpper(string(pointers[0].Hash.ID()[:4])))
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
}

func TestIDsThatCollideAreBothListed(t *testing.T) {
	a := open(t)
	ctx := context.Background()
	s := session("s")
	data := []byte("first original, second original\n")
	fill(t, a, s, 1, data, whole)
	one, two := single(data, 0, 14), single(data, 16, 15)
	two.Hash = one.Hash
	two.Hash[31] ^= 1 // as if SHA-256 had given it 60 equal bits
	err := a.Publish(ctx, Publication{Key: s.Key, At: transcript.Cursor{Generation: 1, Offset: int64(len(data))}, Pointers: []transcript.Pointer{one, two}})
	if err != nil {
		t.Fatal(err)
	}
	found, err := a.Lookup(ctx, string(one.Hash.ID()))
	if err != nil || len(found) != 2 {
		t.Fatalf("Lookup = %v, %v", found, err)
	}
	// The second one's bytes are not what its hash says: that is found by Verify too.
	r, err := a.Verify(ctx, nil)
	if err != nil || len(r.Damage) != 1 || r.Damage[0].ID != two.Hash.ID() || r.Pointers != 2 {
		t.Errorf("Verify = %+v, %v", r, err)
	}
	err = a.update(ctx, 0, func(tx *bolt.Tx) error { return tx.Bucket(bucketIDs).Delete(pointerKey(two)) })
	if err != nil {
		t.Fatal(err)
	}
}

func TestPublishRefusesWhatHasMovedOn(t *testing.T) {
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
	if found, err := a.Lookup(ctx, string(good.Pointers[0].Hash.ID())); len(found) != 1 || err != nil {
		t.Errorf("Lookup after a failed Replace = %v, %v", found, err)
	}
}

func TestPublishManyPointers(t *testing.T) {
	a := open(t)
	s := session("s")
	data := noise(1, 200_000)
	fill(t, a, s, 1, data, whole)
	p := Publication{Key: s.Key, At: transcript.Cursor{Generation: 1, Offset: int64(len(data))}}
	for i := range 2*indexBatch + 5 {
		p.Pointers = append(p.Pointers, single(data, i, 40))
	}
	if err := a.Publish(context.Background(), p); err != nil {
		t.Fatal(err)
	}
	if r := sound(t, a); r.Pointers != len(p.Pointers) {
		t.Errorf("%d pointers of %d", r.Pointers, len(p.Pointers))
	}
}

func TestSharing(t *testing.T) {
	a := open(t)
	ctx := context.Background()
	data := talk(1, 24<<20)
	size := func() int64 {
		z, err := a.Size(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return z.File - z.Free
	}
	fill(t, a, session("one"), 1, data, whole)
	one := size()
	fill(t, a, session("copy"), 1, data, func() int { return 1 << 20 })
	two := size()
	fill(t, a, session("shifted"), 1, slices.Concat(talk(9, 100_000), data), whole)
	three := size()
	t.Logf("24 MB take %d KB; the same again %d KB; behind a prefix of 100 KB %d KB", one>>10, (two-one)>>10, (three-two)>>10)
	if two-one > one/10 || three-two > one/4 {
		t.Error("copies take too much")
	}
	// Nothing else than a frame may be shared by a hash whose frame is damaged: the bytes are stored once more.
	err := a.update(ctx, 0, func(tx *bolt.Tx) error {
		b := tx.Bucket(bucketFrames)
		k, v := b.Cursor().First()
		v = bytes.Clone(v)
		v[len(v)/2] ^= 1
		return b.Put(bytes.Clone(k), v)
	})
	if err != nil {
		t.Fatal(err)
	}
	fill(t, a, session("after the damage"), 1, data, whole)
	got, _, err := everything(a.Reader(session("after the damage").Key, 1))
	if err != nil || !bytes.Equal(got, data) {
		t.Errorf("a copy shares a damaged frame: %v", err)
	}
	if _, _, err := everything(a.Reader(session("one").Key, 1)); !errors.As(err, new(*DamageError)) {
		t.Errorf("the damaged one: %v", err)
	}
	r, err := a.Verify(ctx, nil)
	if err != nil || len(r.Damage) != 2 || r.Damage[0].Session.Agent == "" {
		t.Errorf("Verify = %+v, %v", r, err)
	}
	// Mend it, for the check at the end.
	err = a.update(ctx, 0, func(tx *bolt.Tx) error {
		b := tx.Bucket(bucketFrames)
		k, v := b.Cursor().First()
		v = bytes.Clone(v)
		v[len(v)/2] ^= 1
		return b.Put(bytes.Clone(k), v)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestReadOnlyAndNewerAndForeign(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "archive.db")
	a := openAt(t, path, Options{})
	fill(t, a, session("s"), 1, []byte("x\n"), whole)
	ro := openAt(t, path, Options{ReadOnly: true})
	if err := ro.Append(ctx, session("s"), segment(1, 2, []byte("y\n"))); !errors.Is(err, ErrReadOnly) {
		t.Errorf("Append = %v", err)
	}
	if err := ro.SetState(ctx, session("s"), nil); !errors.Is(err, ErrReadOnly) {
		t.Errorf("SetState = %v", err)
	}
	if got, _, err := everything(ro.Reader(session("s").Key, 0)); string(got) != "x\n" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
	if err := a.update(ctx, 0, func(tx *bolt.Tx) error { return tx.Bucket(bucketMeta).Put(keySchema, []byte("2")) }); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Sessions(ctx); !errors.Is(err, ErrNewer) {
		t.Errorf("newer schema: %v", err)
	}
	if err := a.SetState(ctx, session("s"), nil); !errors.Is(err, ErrNewer) {
		t.Errorf("newer schema: %v", err)
	}
	for name, content := range map[string][]byte{"empty": nil, "text": []byte(strings.Repeat("no database\n", 9000)), "short": []byte("x")} {
		path := filepath.Join(t.TempDir(), "archive.db")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		a := openAt(t, path, Options{})
		if _, err := a.Sessions(ctx); err == nil {
			t.Errorf("%s: it reads as an archive", name)
		}
		if err := a.SetState(ctx, session("s"), nil); err == nil {
			t.Errorf("%s: it was overwritten", name)
		}
		if got, _ := os.ReadFile(path); !bytes.Equal(got, content) {
			t.Errorf("%s: it was changed", name)
		}
	}
}

func TestMinFree(t *testing.T) {
	a := openAt(t, filepath.Join(t.TempDir(), "archive.db"), Options{MinFree: 1 << 60})
	err := a.Append(context.Background(), session("s"), segment(1, 0, []byte("x\n")))
	if !errors.Is(err, ErrFull) {
		t.Errorf("Append = %v, want ErrFull", err)
	}
	t.Log(err)
}

func TestMaxSize(t *testing.T) {
	path := filepath.Join(t.TempDir(), "archive.db")
	a := openAt(t, path, Options{MaxSize: 24 << 20})
	s := session("s")
	acked := int64(0)
	for {
		data := noise(uint64(acked), 1<<20)
		err := a.Append(context.Background(), s, segment(1, acked, data))
		if err != nil {
			if !errors.Is(err, ErrFull) {
				t.Fatal(err)
			}
			break
		}
		if acked += int64(len(data)); acked > 64<<20 {
			t.Fatal("MaxSize does not hold")
		}
	}
	bigger := openAt(t, path, Options{})
	if err := bigger.Append(context.Background(), s, segment(1, acked, []byte("more\n"))); err != nil {
		t.Error(err)
	}
	if r := sound(t, bigger); r.Bytes != acked+5 {
		t.Errorf("%d bytes are held of %d", r.Bytes, acked+5)
	}
}

func TestCancelled(t *testing.T) {
	a := open(t)
	fill(t, a, session("s"), 1, []byte("x\n"), whole)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := a.Append(ctx, session("s"), segment(1, 2, []byte("y\n"))); !errors.Is(err, context.Canceled) {
		t.Errorf("Append = %v", err)
	}
	if _, err := a.Verify(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Verify = %v", err)
	}
}

func TestCutterIsForEver(t *testing.T) {
	// Frames that are cut otherwise share nothing with those of older archives: these numbers may never change.
	var c cutter
	data := slices.Concat(talk(11, 5<<20), bytes.Repeat([]byte("q"), 3<<20), talk(12, 3<<20))
	h := sha256.New()
	for _, at := range c.cut(0, data) {
		fmt.Fprintln(h, at)
	}
	if got := fmt.Sprintf("%x", h.Sum(nil)[:6]); got != "0dc9ca0e977e" {
		t.Errorf("cuts hash to %s", got)
	}
}
