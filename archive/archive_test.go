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

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

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

func TestNothingIsMadeBeforeTheFirstWrite(t *testing.T) {
	t.Parallel()
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
	must(t, a.SetState(ctx, session("s"), []byte("x")))
	for name, want := range map[string]os.FileMode{"deep": 0o700 | os.ModeDir, "deep/archive.db": 0o600, "deep/archive.lock": 0o600} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v, want %v", name, info.Mode(), err, want)
		}
	}
	if list, _ := os.ReadDir(filepath.Join(dir, "deep")); len(list) != 2 {
		t.Errorf("there are %v", list)
	}
}

func TestStateAndSessions(t *testing.T) {
	t.Parallel()
	a := open(t)
	ctx := context.Background()
	for i := range 5 {
		must(t, a.Append(ctx, session(fmt.Sprintf("s%05d", i)), segment(1, 0, []byte("x\n"))))
	}
	err := a.update(ctx, 0, func(tx *bolt.Tx) error { // as SetState does, in one transaction
		for i := range pageSize + 10 {
			if err := putSession(tx, sessionRecord{Session: session(fmt.Sprintf("t%05d", i)), Num: uint64(1000 + i)}); err != nil {
				return err
			}
		}
		return nil
	})
	must(t, err)
	must(t, a.SetState(ctx, session("t00001"), []byte("mine")))
	all, err := a.Sessions(ctx)
	if err != nil || len(all) != pageSize+10+5 {
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

func TestReadOnlyAndForeign(t *testing.T) {
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
	for name, content := range map[string][]byte{"empty": nil, "text": []byte(strings.Repeat("no database\n", 9000)), "short": []byte("x")} {
		path := filepath.Join(t.TempDir(), "archive.db")
		must(t, os.WriteFile(path, content, 0o600))
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
