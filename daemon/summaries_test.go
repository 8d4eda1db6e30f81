package daemon

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"ccd/archive"
	"ccd/compactor/companion"
	"ccd/internal/testkit"
)

// talk is one turn of an invented session in which the agent answers at such length that the summarizer is asked.
func talk(n int) string {
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC).Add(time.Duration(n) * 40 * time.Minute).Format(time.RFC3339)
	var b strings.Builder
	for i := range 18 {
		fmt.Fprintf(&b, "In month %d the account %d was closed %d cents short, so the carry of step %d goes to the next sheet. ", n, n*31+i, 100*n+i, i)
	}
	common := `"isSidechain":false,"userType":"external","cwd":"/home/me/ledger","sessionId":"s","version":"2.1.0"`
	return fmt.Sprintf(`{%s,"type":"user","message":{"role":"user","content":"Go through month %d."},"uuid":"u%d","timestamp":"%s"}`+"\n"+
		`{%s,"type":"assistant","message":{"id":"m%d","role":"assistant","model":"claude-test-1","content":[{"type":"text","text":"%s"}]},"uuid":"a%d","timestamp":"%s"}`+"\n",
		common, n, n, at, common, n, b.String(), n, at)
}

func talks(from, to int) string {
	var b strings.Builder
	for n := from; n < to; n++ {
		b.WriteString(talk(n))
	}
	return b.String()
}

// modelHouse is a house with a summarizer: its companions have too little room for all that is said.
func modelHouse(t *testing.T, m *model) *house {
	t.Helper()
	h := newHouse(t)
	h.furnish(m)
	return h
}

func (h *house) furnish(m *model) {
	h.o.Compaction.MaxTokens, h.o.Compaction.Summarizer = 16000, "model"
	h.o.Summarize = m.summarize
}

// model is a summarizer's command that answers at once, and remembers what it was asked.
type model struct {
	mu    sync.Mutex
	asked []string
	fail  func(n int) error // of the n-th call from 1; nil: none fails
}

func (m *model) summarize(_ context.Context, input string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked = append(m.asked, input)
	if m.fail != nil {
		if err := m.fail(len(m.asked)); err != nil {
			return nil, err
		}
	}
	_, id, _ := strings.Cut(strings.SplitN(input, "\n", 2)[0], "request ")
	return []byte("The model tells of " + id + ".\n"), nil
}

func (m *model) calls() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.asked)
}

const said = "summarized by a model: \"The model tells of "

// Killed at random moments while summaries are written: none that is kept is ever lost, and the next pass ends in a
// companion that lacks none and can be made again.
func TestSummariesKilledAtAnyMoment(t *testing.T) {
	rounds := testkit.Cases(t, 4, 15)
	h := modelHouse(t, &model{})
	rng := rand.New(rand.NewPCG(3, 4))
	kept := 0
	for n := 0; n < rounds || kept == 0 && n < 10*rounds; n++ { // a slow machine may need longer ones
		h.append(h.path(1), talks(4*n, 4*n+4))
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), victim+"="+h.home, modelled+"=1")
		testkit.Must(t, cmd.Start())
		<-time.After(time.Duration((50+rng.IntN(300))*(1+n/rounds)) * time.Millisecond) // a moment by chance
		testkit.Must(t, cmd.Process.Kill())
		_ = cmd.Wait()
		r, err := h.o.Archive.Verify(context.Background(), nil)
		if err != nil || len(r.Damage) > 0 || r.Summaries < kept {
			t.Fatalf("round %d: %d summaries are kept of %d, damage %v, %v", n, r.Summaries, kept, r.Damage, err)
		}
		kept = r.Summaries
	}
	if kept == 0 {
		t.Error("no summary was written in any round: this test cannot fail")
	}
	if r := h.once(); r.Lacking > 0 {
		t.Errorf("%d are lacking", r.Lacking)
	}
	got := h.companion(h.path(1))
	testkit.Must(t, os.Remove(strings.TrimSuffix(h.path(1), ".jsonl")+companion.Suffix))
	if h.once(); h.companion(h.path(1)) != got || !strings.Contains(got, said) {
		t.Errorf("made anew it differs:\n%s", firstDifference(got, h.companion(h.path(1))))
	}
}

func TestFailuresLeaveOurOwnSummaries(t *testing.T) {
	h := newHouse(t)
	h.o.Compaction.MaxTokens = 6000
	h.write(h.path(1), talks(0, 18))
	h.once()
	_, plain, _ := strings.Cut(h.companion(h.path(1)), "\n---\n")

	m := &model{fail: func(int) error { return errors.New("exit status 1") }}
	h = modelHouse(t, m)
	h.o.Compaction.MaxTokens = 6000
	h.write(h.path(1), talks(0, 18))
	lacking, passes := 1, 0
	for ; lacking > 0 && passes < 200; passes++ {
		before := m.calls()
		r := h.once()
		if lacking = r.Lacking; m.calls()-before > maxFailed {
			t.Fatalf("%d calls that fail in one pass", m.calls()-before)
		}
	}
	if _, got, _ := strings.Cut(h.companion(h.path(1)), "\n---\n"); got != plain || lacking > 0 {
		t.Errorf("after %d passes %d lack summaries:\n%s", passes, lacking, firstDifference(plain, got))
	}
	if len(m.asked) < 2*archive.Tries {
		t.Errorf("%d calls: this test cannot fail", len(m.asked))
	}
	tries := map[string]int{}
	for _, in := range m.asked {
		tries[in]++
	}
	for in, n := range tries {
		if n != archive.Tries {
			t.Errorf("%s: asked for %d times", strings.SplitN(in, "\n", 2)[0], n)
		}
	}
}

// While a summary is being written, other sessions go on, and so does this one.
func TestRunWritesSummariesBeside(t *testing.T) {
	m := &model{}
	h := modelHouse(t, m)
	release, begun := make(chan struct{}), make(chan struct{}, 100)
	h.o.Summarize = func(ctx context.Context, input string) ([]byte, error) {
		begun <- struct{}{}
		select {
		case <-release:
			return m.summarize(ctx, input)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	h.write(h.path(1), talks(0, 60))
	stop := h.running()
	<-begun
	testkit.Eventually(t, "the companion without the model's summaries", h.covers(h.path(1)))
	h.write(h.path(2), turns(0, 12))
	testkit.Eventually(t, "another session's companion", h.covers(h.path(2)))
	h.append(h.path(1), talks(60, 62))
	testkit.Eventually(t, "the companion of the session that grew", h.covers(h.path(1)))
	if h.has(h.path(1), said)() || len(begun) > 0 {
		t.Error("a second summary was begun before the first was there")
	}
	close(release)
	testkit.Eventually(t, "the model's summaries", h.has(h.path(1), said))
	testkit.Eventually(t, "nothing is lacking", h.lacksNothing(h.path(1)))
	want := h.companion(h.path(1))
	if err := stop(); !errors.Is(err, context.Canceled) {
		t.Errorf("run = %v", err)
	}
	if h.once(); h.companion(h.path(1)) != want {
		t.Errorf("a pass makes another companion:\n%s", firstDifference(want, h.companion(h.path(1))))
	}
}

func (h *house) lacksNothing(path string) func() bool {
	return func() bool {
		a, err := h.o.Archive.Session(context.Background(), key(path))
		if err != nil {
			return false
		}
		s, err := DecodeState(a.State)
		return err == nil && s.MissingSummaries == 0
	}
}
