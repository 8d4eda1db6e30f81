package watcher

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

var (
	atRest = TailOptions{Rest: true}
	torn   = TailOptions{Rest: true, Torn: true}
)

var must = testkit.Must

// follower plays the consumer: it keeps a cursor, and of every generation the bytes that it got.
type follower struct {
	t    testing.TB
	s    transcript.Session
	at   transcript.Cursor
	gens map[int][]byte
}

func follow(t testing.TB, path string) *follower {
	return &follower{t: t, s: transcript.Session{Path: path, Root: filepath.Dir(path)}, gens: map[int][]byte{}}
}

// tail takes what is new, checks each segment's promises, and returns the segments' data.
func (f *follower) tail(o TailOptions) (data []string) {
	f.t.Helper()
	data, err := f.try(o)
	must(f.t, err)
	return data
}

func (f *follower) try(o TailOptions) (data []string, err error) {
	f.t.Helper()
	for seg, err := range Tail(context.Background(), f.s, f.at, o) {
		if err != nil {
			return data, err
		}
		f.check(seg, o)
		f.at = seg.End
		f.gens[seg.End.Generation] = append(f.gens[seg.End.Generation], seg.Data...)
		data = append(data, string(seg.Data))
	}
	return data, nil
}

func (f *follower) check(seg transcript.Segment, o TailOptions) {
	f.t.Helper()
	switch {
	case len(seg.Data) == 0 || len(seg.Data) > pieceBytes:
		f.t.Fatalf("a segment of %d bytes", len(seg.Data))
	case seg.Start.Generation == f.at.Generation && seg.Start.Offset != f.at.Offset:
		f.t.Fatalf("starts at %+v, want %+v", seg.Start, f.at)
	case seg.Start.Generation != f.at.Generation && seg.Start != transcript.Cursor{Generation: f.at.Generation + 1}:
		f.t.Fatalf("a new generation starts at %+v", seg.Start)
	case seg.End.Offset != seg.Start.Offset+int64(len(seg.Data)) || seg.End.Generation != seg.Start.Generation:
		f.t.Fatalf("ends at %+v", seg.End)
	case !o.Rest && (seg.Rest || !bytes.HasSuffix(seg.Data, []byte("\n")) && len(seg.Data) < pieceBytes):
		f.t.Fatalf("a segment that is not of whole lines (rest %v)", seg.Rest)
	}
}

func (f *follower) want(generation int, want []byte) {
	f.t.Helper()
	if got := f.gens[generation]; !bytes.Equal(got, want) {
		f.t.Fatalf("generation %d: %d bytes, want %d; they part at %d", generation, len(got), len(want), parting(got, want))
	}
}

func parting(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

func TestTailWholeLinesOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	f := follow(t, path)
	for _, step := range []struct {
		append string
		o      TailOptions
		want   string
	}{
		{"", atRest, ""},
		{`{"a":1}` + "\n" + `{"b"`, TailOptions{}, `{"a":1}` + "\n"},
		{``, TailOptions{}, ``},
		{``, atRest, ``},
		{`:2}`, TailOptions{}, ``},
		{``, atRest, `{"b":2}`}, // it parses, and nothing follows
		{``, atRest, ``},
		{"\n", TailOptions{}, "\n"},
		{"{\"c\"\r\n", TailOptions{}, "{\"c\"\r\n"}, // broken, but whole
		{`{"d":`, atRest, ``},
		{``, torn, `{"d":`},
		{`1}`, atRest, ``}, // the end of a line whose beginning is taken
		{"\n", atRest, "1}\n"},
		{"12", atRest, ``}, // may be the beginning of 123
		{"3\n\n", TailOptions{}, "123\n\n"},
	} {
		testkit.Append(t, path, step.append)
		if got := strings.Join(f.tail(step.o), ""); got != step.want {
			t.Fatalf("after %q: got %q, want %q", step.append, got, step.want)
		}
	}
}

// A line of any length comes through whole or in pieces, with little memory.
func TestTailLongLines(t *testing.T) {
	for _, n := range []int{
		segmentBytes - 1, segmentBytes, segmentBytes + 1, pieceBytes - 1, pieceBytes, 2*pieceBytes + 5,
	} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.jsonl")
			want := "short\n" + strings.Repeat("y", n) + "\nafter\n"
			testkit.Append(t, path, want)
			f := follow(t, path)
			f.tail(TailOptions{})
			f.want(1, []byte(want))
		})
	}
	t.Run("unterminated", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "a.jsonl")
		testkit.Append(t, path, strings.Repeat("z", pieceBytes+10))
		f := follow(t, path)
		if got := f.tail(TailOptions{}); len(got) != 1 || len(got[0]) != pieceBytes {
			t.Fatalf("%d segments", len(got))
		}
		if got := f.tail(atRest); len(got) != 0 {
			t.Fatalf("the rest of a long line was taken: %d", len(got[0]))
		}
		f.tail(torn)
		f.want(1, bytes.Repeat([]byte("z"), pieceBytes+10))
	})
}

func TestTailMemoryIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	f, err := os.Create(path)
	must(t, err)
	must(t, f.Truncate(100<<20)) // one line of 100 MB
	must(t, f.Close())
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for seg, err := range Tail(context.Background(), transcript.Session{Path: path}, transcript.Cursor{}, TailOptions{}) {
		if err != nil || len(seg.Data) > pieceBytes {
			t.Fatal(err, len(seg.Data))
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		if got := int64(after.HeapAlloc - before.HeapAlloc); got > 13<<20 {
			t.Errorf("%d bytes in use for a line of 100 MB", got)
		}
	}
}

func TestTailRefusesWhatIsNotRegular(t *testing.T) {
	dir := t.TempDir()
	testkit.Put(t, filepath.Join(dir, "secret"), "secret\n")
	must(t, os.Mkdir(filepath.Join(dir, "dir.jsonl"), 0o700))
	must(t, os.Symlink("secret", filepath.Join(dir, "link.jsonl")))
	makeFIFO(t, filepath.Join(dir, "fifo.jsonl"))
	for _, name := range []string{"dir.jsonl", "link.jsonl", "fifo.jsonl"} {
		for _, root := range []string{"", dir} {
			f := follow(t, filepath.Join(dir, name))
			f.s.Root = root
			if _, err := f.try(atRest); !errors.Is(err, ErrIrregular) {
				t.Errorf("%s: %v, want ErrIrregular", name, err)
			}
		}
	}
	f := follow(t, filepath.Join(dir, "absent.jsonl"))
	if _, err := f.try(atRest); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
}

// A directory below the root that became a symlink leads nowhere.
func TestTailStaysBelowTheRoot(t *testing.T) {
	root, out := t.TempDir(), t.TempDir()
	testkit.Put(t, filepath.Join(out, "a.jsonl"), "outside\n")
	must(t, os.Symlink(out, filepath.Join(root, "project")))
	f := follow(t, filepath.Join(root, "project", "a.jsonl"))
	f.s.Root = root
	if got, err := f.try(atRest); err == nil {
		t.Errorf("read %q", got)
	}
	for _, read := range []string{"", filepath.Dir(f.s.Path)} { // control: without a root it is read, and so is a root that is a link
		f.s.Root = read
		f.at = transcript.Cursor{}
		f.tail(atRest)
	}
}

func TestTailStopsWhenTheFileShrinks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	line := strings.Repeat("x", 1<<20-1) + "\n"
	testkit.Put(t, path, strings.Repeat(line, 20))
	f := follow(t, path)
	n := 0
	for seg, err := range Tail(context.Background(), f.s, f.at, TailOptions{}) {
		must(t, err)
		f.at = seg.End
		f.gens[1] = append(f.gens[1], seg.Data...)
		if n++; n == 2 {
			must(t, os.Truncate(path, 3<<20))
		}
	}
	if n != 2 {
		t.Fatalf("%d segments after the file shrank", n-2)
	}
	f.tail(TailOptions{})
	f.want(2, []byte(strings.Repeat(line, 3)))
}

// Whatever the pattern of growth, joined data is the file.
func FuzzTailJoined(f *testing.F) {
	f.Add([]byte("{\"a\":1}\n{\"b\":2}\n"), []byte{3, 1, 9, 200})
	f.Add([]byte("no end"), []byte{0})
	f.Add([]byte("\n\n\r\n\x00[1]"), []byte{1, 1, 1, 0, 1})
	f.Add(bytes.Repeat([]byte("0123456789\n"), 1000), []byte{255, 254, 100, 3})
	f.Fuzz(func(t *testing.T, data, steps []byte) {
		path := filepath.Join(t.TempDir(), "a.jsonl")
		testkit.Put(t, path, "")
		f := follow(t, path)
		written := 0
		for _, s := range steps {
			n := min(int(s/4)*17, len(data)-written)
			testkit.Append(t, path, string(data[written:written+n]))
			written += n
			f.tail([]TailOptions{{}, {}, atRest, torn}[s%4])
		}
		testkit.Append(t, path, string(data[written:]))
		f.tail(torn)
		want := testkit.Read(t, path)
		f.want(1, want)
		if f.at.Offset > 0 && len(f.gens) != 1 {
			t.Fatalf("%d generations", len(f.gens))
		}
	})
}
