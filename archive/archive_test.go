package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/mark"
	"ccd/internal/testkit"
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

var must = testkit.Must

// SetState stores a state whatever was stored before.
func (a *Archive) SetState(ctx context.Context, s transcript.Session, state []byte) error {
	err := a.update(ctx, int64(len(state)), func(tx *bolt.Tx) error {
		return a.keep(tx, Change{Session: s, New: state})
	})
	if err != nil {
		return fmt.Errorf("store state of session %s %s: %w", s.Agent, s.ID, err)
	}
	return nil
}

func openAt(t testing.TB, path string, o Options) *Archive {
	t.Helper()
	a, err := Open(path, o)
	must(t, err)
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
		must(t, a.Append(context.Background(), s, segment(gen, int64(off), data[off:off+n])))
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
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(seed >> 16), byte(seed >> 24)}).Read(b)
	return b
}

// There may be more sessions than one transaction reads; only their owner reads them.
func TestStateAndSessions(t *testing.T) {
	t.Parallel()
	a, ctx := open(t), t.Context()
	must(t, a.update(ctx, 0, func(tx *bolt.Tx) error { // as SetState does, in one transaction
		for i := range pageSize + 10 {
			must(t, putSession(tx, sessionRecord{Session: session(fmt.Sprintf("t%05d", i))}))
		}
		return nil
	}))
	must(t, a.SetState(ctx, session("t00001"), []byte("mine")))
	all, err := a.Sessions(ctx)
	if err != nil || len(all) != pageSize+10 || !slices.IsSortedFunc(all, func(x, y Session) int { return strings.Compare(x.ID, y.ID) }) {
		t.Fatalf("%d sessions, or not in order, %v", len(all), err)
	}
	got, err := a.Session(ctx, session("t00001").Key)
	if string(got.State) != "mine" || err != nil || got.Path != session("t00001").Path || got.Tip() != (transcript.Cursor{}) {
		t.Errorf("Session = %+v, %v", got, err)
	}
	must(t, a.Append(ctx, session("t00001"), segment(1, 0, []byte("x")))) // known by its state
	for name, want := range map[string]os.FileMode{"": 0o700 | os.ModeDir, "archive.db": 0o600, "archive.lock": 0o600} {
		if info, err := os.Stat(filepath.Join(filepath.Dir(a.Path()), name)); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v, want %v", name, info, err, want)
		}
	}
}

func TestReadOnly(t *testing.T) {
	t.Parallel()
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
}

func TestMinFree(t *testing.T) {
	t.Parallel()
	a := openAt(t, filepath.Join(t.TempDir(), "archive.db"), Options{MinFree: 1 << 60})
	err := a.Append(context.Background(), session("s"), segment(1, 0, []byte("x\n")))
	if !errors.Is(err, ErrFull) {
		t.Errorf("Append = %v, want ErrFull", err)
	}
	t.Log(err)
}

func TestMaxSize(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "archive.db")
	a := openAt(t, path, Options{MaxSize: 10 << 20})
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

// An archive on a disk that is not there is no absent one: it is not replaced by an empty archive, whose write would
// take the place of the link.
func TestLinkThatLeadsNowhere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, disk := filepath.Join(dir, "archive.db"), filepath.Join(dir, "disk")
	real := filepath.Join(disk, "x.db")
	must(t, os.Mkdir(disk, 0o700))
	ctx, s := context.Background(), session("a")
	must(t, openAt(t, real, Options{}).Append(ctx, s, segment(1, 0, []byte("one\n"))))
	if err := os.Symlink(real, path); err != nil {
		t.Skip("no symlinks here:", err)
	}
	a := openAt(t, path, Options{})
	if _, err := a.Sessions(ctx); err != nil {
		t.Fatalf("through the link: %v", err)
	}
	must(t, os.Rename(disk, disk+".away"))
	_, err := a.Sessions(ctx)
	for what, err := range map[string]error{"read": err, "append": a.Append(ctx, s, segment(1, 4, []byte("two\n")))} {
		if err == nil || !strings.Contains(err.Error(), "links to "+real) {
			t.Errorf("%s: %v, want an error that names the link", what, err)
		}
	}
	if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link became %v, %v", info, err)
	}
	must(t, os.Rename(disk+".away", disk))
	if err := a.Append(ctx, s, segment(1, 4, []byte("two\n"))); err != nil {
		t.Errorf("once the disk is back: %v", err)
	}
}
