package archive

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"ccd/internal/mark"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

// childEnv makes the test binary another process at work on an archive: "role path seed".
const childEnv = "ARCHIVE_TEST_CHILD"

func TestMain(m *testing.M) {
	if role := os.Getenv(childEnv); role != "" {
		if err := child(strings.Fields(role)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	testkit.InMemory() // a power cut has a disk of its own
	os.Exit(m.Run())
}

func child(args []string) error {
	seed, err := strconv.ParseUint(args[2], 10, 64)
	if err != nil {
		return err
	}
	a, err := Open(args[1], Options{})
	if err != nil {
		return err
	}
	if text, ok := strings.CutPrefix(args[0], "forget:"); ok {
		if _, err := a.Forget(context.Background(), Removal{Texts: []Text{whatever(text)}}, nil); !errors.Is(err, ErrNotFound) {
			return err
		}
		return nil
	}
	switch args[0] {
	case "write":
		return write(a, seed, false)
	case "rewrite":
		return rewrite(a, seed)
	case "lie":
		return write(a, seed, true)
	case "few":
		return few(a)
	case "rebuild":
		_, err := rebuild(context.Background(), a)
		return err
	case "backup":
		_, err := a.Backup(context.Background(), copyBeside(args[1]), true, nil)
		return err
	}
	return fmt.Errorf("unknown role %s", args[0])
}

// copyBeside is where the role "backup" puts its copy.
func copyBeside(path string) string { return filepath.Join(filepath.Dir(path), "copy") }

const (
	crashSessions = 3
	crashBytes    = 2 << 20
)

// crashData is what each session holds in the end, whoever writes it.
type crashData [crashSessions][]byte

// newCrashData makes it once in each process. Nothing changes it.
var newCrashData = sync.OnceValue(func() (d crashData) {
	for i := range d {
		d[i] = talk(uint64(100+i), crashBytes)
	}
	return d
})

// write goes on where the archive is, until it is killed, and says on stdout what is durable: before it is, if lying.
func write(a *Archive, seed uint64, lying bool) error {
	ctx := context.Background()
	r := rand.New(rand.NewPCG(seed, 1))
	data := newCrashData()
	fmt.Println("go")
	for {
		i := r.IntN(crashSessions)
		s := session(fmt.Sprint("crash", i))
		held, err := a.Session(ctx, s.Key)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		off := held.Tip().Offset
		n := min(1+r.IntN(1<<(4+r.IntN(16))), len(data[i])-int(off))
		if lying {
			fmt.Printf("tip %d %d\n", i, off+int64(n))
		}
		if err := a.Append(ctx, s, segment(1, off, data[i][off:off+int64(n)])); err != nil {
			return err
		}
		if !lying {
			fmt.Printf("tip %d %d\n", i, off+int64(n))
		}
		if n == 0 || r.IntN(4) > 0 {
			continue
		}
		p := single(data[i], int(off), n)
		err = a.Publish(ctx, Publication{
			Key: s.Key, At: transcript.Cursor{Generation: 1, Offset: off + int64(n)}, State: held.State,
			Pointers: []transcript.Pointer{p},
			Replace: func() ([]byte, error) {
				fmt.Printf("id %d %d %d\n", i, off, n)
				return []byte(strconv.FormatInt(off, 10)), nil
			},
		})
		if err != nil {
			return err
		}
	}
}

// rewrittenState is the n-th state of a file that is written anew at each change: lines go and come in its middle.
func rewrittenState(n int) []byte {
	r := rand.New(rand.NewPCG(uint64(n), 3))
	data := talk(200, 300<<10)
	for range min(n, 12) {
		at := r.IntN(len(data) - 9000)
		data = slices.Concat(data[:at], talk(uint64(300+n), 3000), data[at+r.IntN(9000):])
	}
	return data
}

// rewrite stores one state after the other, until it is killed, and says which ones are durable.
func rewrite(a *Archive, seed uint64) error {
	ctx, s := context.Background(), session("rewritten")
	r := rand.New(rand.NewPCG(seed, 5))
	fmt.Println("go")
	for {
		held, err := a.Session(ctx, s.Key)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		at := held.Tip()
		data := rewrittenState(max(1, at.Generation))
		if at.Offset == int64(len(data)) {
			fmt.Println("state", at.Generation, "stored")
			at = transcript.Cursor{Generation: at.Generation + 1}
			data = rewrittenState(at.Generation)
		}
		at.Generation = max(1, at.Generation)
		n := min(1+r.IntN(200<<10), len(data)-int(at.Offset))
		if err := a.Append(ctx, s, segment(at.Generation, at.Offset, data[at.Offset:at.Offset+int64(n)])); err != nil {
			return err
		}
	}
}

// few does ten steps as the daemon would: after an error it looks where the archive is, and tries again.
func few(a *Archive) error {
	ctx := context.Background()
	s := session("crash0")
	data := talk(100, 10*40_000) // the beginning of crashData[0]
	for fails := 0; fails < 20; {
		held, err := a.Session(ctx, s.Key)
		off := held.Tip().Offset
		if off > 9*40_000 {
			fmt.Println("done")
			return nil
		}
		if err == nil || errors.Is(err, ErrNotFound) {
			err = a.Append(ctx, s, segment(1, off, data[off:off+40_000]))
		}
		if err == nil {
			fmt.Println("tip 0", off+40_000)
			err = a.Publish(ctx, Publication{
				Key: s.Key, At: transcript.Cursor{Generation: 1, Offset: off + 40_000}, State: held.State,
				Pointers: []transcript.Pointer{single(data, int(off), 40_000)},
				Replace: func() ([]byte, error) {
					fmt.Println("id 0", off, 40_000)
					return []byte(strconv.FormatInt(off, 10)), nil
				},
			})
		}
		if err != nil {
			fmt.Println("error", err)
			fails++
		}
	}
	return errors.New("it fails and fails")
}

func start(t *testing.T, role, path string, seed int) (*exec.Cmd, io.Reader) {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	c := exec.Command(exe)
	c.Env = []string{fmt.Sprintf("%s=%s %s %d", childEnv, role, path, seed), "HOME=" + t.TempDir()}
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	must(t, err)
	must(t, c.Start())
	return c, out
}

// kill runs a writer, kills it after a while, and returns what it said.
func kill(t *testing.T, role, path string, seed int, after time.Duration) []string {
	t.Helper()
	c, out := start(t, role, path, seed)
	said := killed(c, out, after)
	if c.ProcessState.Success() || c.ProcessState.ExitCode() == 1 {
		t.Fatalf("the writer ended by itself: %v", c.ProcessState)
	}
	return said
}

// killed kills a process some time after it has begun, and returns what it said.
func killed(c *exec.Cmd, out io.Reader, after time.Duration) (said []string) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if lines.Text() == "go" {
			time.AfterFunc(after, func() { _ = c.Process.Kill() })
			continue
		}
		said = append(said, lines.Text())
	}
	_ = c.Wait()
	if len(said) > 0 && strings.Count(said[len(said)-1], " ") < 2 {
		said = said[:len(said)-1] // cut off in the middle of a line
	}
	return said
}

// lost returns what was said to be durable and is not, or is not right.
func (data crashData) lost(t *testing.T, path string, said []string) (lost []string) {
	t.Helper()
	ctx := context.Background()
	a := openAt(t, path, Options{})
	r, err := a.Verify(ctx, nil)
	must(t, err)
	for _, d := range r.Damage {
		lost = append(lost, d.Error())
	}
	var held crashData
	for i := range data {
		held[i], _, err = everything(a.Reader(session(fmt.Sprint("crash", i)).Key, 0))
		if err != nil && !errors.Is(err, ErrNotFound) || !bytes.HasPrefix(data[i], held[i]) {
			lost = append(lost, fmt.Sprintf("session %d: %v", i, err))
		}
	}
	for _, line := range said {
		var what string
		var i, off, n int
		if _, err := fmt.Sscan(line, &what, &i, &off, &n); err != nil && what != "tip" {
			t.Fatalf("%q: %v", line, err)
		}
		switch {
		case what == "tip" && off > len(held[i]):
			lost = append(lost, line)
		case what == "id":
			found, err := a.Lookup(ctx, mark.Sum(data[i][off:off+n]).ID())
			if len(found) != 1 || err != nil {
				lost = append(lost, fmt.Sprintf("%s: %v", line, err))
			}
		}
	}
	return lost
}

func TestKilledAtAnyMoment(t *testing.T) {
	t.Parallel()
	rounds := testkit.Cases(t, 2, 80)
	r := rand.New(rand.NewPCG(1, uint64(time.Now().UnixNano())))
	var path string
	var said []string
	acked, data := 0, newCrashData()
	for i := range rounds {
		if i%8 == 0 { // after some more kills, the writer would have written everything
			acked += len(said)
			path, said = filepath.Join(t.TempDir(), "archive.db"), nil
		}
		said = append(said, kill(t, "write", path, i, time.Duration(r.IntN(100_000))*time.Microsecond)...)
		if lost := data.lost(t, path, said); len(lost) > 0 {
			t.Fatalf("round %d: lost: %q", i, lost)
		}
	}
	t.Logf("%d kills, %d acknowledgements, none lost", rounds, acked+len(said))
}

// What shares its bytes with an earlier generation survives kills as all else does.
func TestKilledWhileRewriting(t *testing.T) {
	t.Parallel()
	path, s := filepath.Join(t.TempDir(), "archive.db"), session("rewritten")
	r := rand.New(rand.NewPCG(3, uint64(time.Now().UnixNano())))
	said := 0
	least := testkit.Cases(t, 2, 6)
	for i := 0; i < least || said < 3 && i < 60; i++ { // a busy machine gets less done between two kills
		for _, line := range kill(t, "rewrite", path, i, time.Duration(50+r.IntN(200)+50*i)*time.Millisecond) {
			var n int
			if _, err := fmt.Sscanf(line, "state %d stored", &n); err == nil {
				said = max(said, n)
			}
		}
		a := openAt(t, path, Options{})
		sound(t, a)
		held, err := a.Session(context.Background(), s.Key)
		if said == 0 && errors.Is(err, ErrNotFound) { // killed before its first write
			continue
		}
		if err != nil || len(held.Generations) < said {
			t.Fatalf("%d generations of %d, %v", len(held.Generations), said, err)
		}
		for _, g := range held.Generations {
			want := rewrittenState(g.N)
			got, _, err := everything(a.Reader(s.Key, g.N))
			if err != nil || !bytes.HasPrefix(want, got) || g.N < len(held.Generations) && len(got) != len(want) {
				t.Errorf("generation %d: %d bytes of %d, %v", g.N, len(got), len(want), err)
			}
		}
	}
	if t.Logf("%d kills, %d states", least, said); said < 3 {
		t.Errorf("only %d states were stored", said)
	}
}

func TestKillTestSeesALie(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "archive.db")
	r := rand.New(rand.NewPCG(2, uint64(time.Now().UnixNano())))
	data := newCrashData()
	for i := range 40 {
		said := kill(t, "lie", path, i, time.Duration(r.IntN(60_000))*time.Microsecond)
		if len(data.lost(t, path, said)) > 0 {
			t.Logf("caught after %d kills", i+1)
			return
		}
	}
	t.Error("a writer that acknowledges too early was not caught in 40 kills")
}

// Goroutines of one process are strangers to each other too.
func TestWritersInOneProcess(t *testing.T) {
	t.Parallel()
	a := open(t)
	var group sync.WaitGroup
	for i := range 6 {
		group.Go(func() {
			data := talk(uint64(i), 700<<10)
			fill(t, a, session(fmt.Sprint("g", i)), 1, data, func() int { return 100 << 10 })
			got, _, err := everything(a.Reader(session(fmt.Sprint("g", i)).Key, 1))
			if err != nil || !bytes.Equal(got, data) {
				t.Errorf("session %d: %v", i, err)
			}
		})
	}
	// All of them want to add the same bytes to one session: one wins each time.
	won := make([]int, 6)
	for i := range won {
		group.Go(func() {
			for off := int64(0); off < 40; {
				err := a.Append(context.Background(), session("contested"), segment(1, off, []byte{byte(off)}))
				if err == nil {
					won[i]++
				} else if !errors.Is(err, ErrStale) {
					t.Error(err)
				}
				s, err := a.Session(context.Background(), session("contested").Key)
				if err != nil {
					t.Error(err)
					return
				}
				off = s.Tip().Offset
			}
		})
	}
	group.Wait()
	total := 0
	for _, n := range won {
		total += n
	}
	if total != 40 {
		t.Errorf("%d appends won, want 40: %v", total, won)
	}
}
