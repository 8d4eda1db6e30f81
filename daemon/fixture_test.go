package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ccd/archive"
	"ccd/compactor"
	"ccd/compactor/companion"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
	"ccd/watcher"
)

// house is a HOME of a test's own, with a daemon's archive and state.
type house struct {
	t     *testing.T
	home  string
	o     Options
	slots int // of the pool; 0: as many as ccd has
}

// newHouse returns an empty HOME. Its triggers fire early: fixtures are small.
func newHouse(t *testing.T) *house {
	t.Helper()
	return houseIn(t, t.TempDir())
}

func houseIn(t *testing.T, home string) *house {
	t.Helper()
	state := filepath.Join(home, "state")
	a, err := archive.Open(filepath.Join(state, "archive.db"), archive.Options{})
	testkit.Must(t, errors.Join(err, os.MkdirAll(state, 0o700)))
	h := &house{t: t, home: home}
	h.o = Options{Archive: a, StateDir: state, Compaction: compactor.Defaults(), Lock: &RunLock{}}
	h.o.Compaction.Threshold, h.o.Compaction.MinSavings = 2000, 0
	h.o.Watch.Roots = []watcher.Root{
		{Agent: "claude-code", Path: filepath.Join(home, ".claude", "projects")},
		{Agent: "codex", Path: filepath.Join(home, ".codex", "sessions")},
	}
	h.o.Watch.Settle, h.o.Watch.MaxWait = 20*time.Millisecond, 100*time.Millisecond
	h.o.Watch.RefreshIdle, h.o.Watch.ScanInterval = 60*time.Millisecond, 200*time.Millisecond
	return h
}

// path of the main session n.
func (h *house) path(n int) string {
	return filepath.Join(h.home, ".claude", "projects", "-work", fmt.Sprintf("00000000-0000-4000-8000-%012d.jsonl", n))
}

func (h *house) write(path, text string)  { h.t.Helper(); testkit.Put(h.t, path, text) }
func (h *house) append(path, text string) { h.t.Helper(); testkit.Append(h.t, path, text) }

// daemon returns a daemon that knows what the archive knows, as after a start.
func (h *house) daemon() *Daemon {
	h.t.Helper()
	d, err := New(context.Background(), h.o)
	testkit.Must(h.t, err)
	if h.slots > 0 {
		d.pool.slots = h.slots
	}
	return d
}

// synced syncs one file and all that depends on it, and returns the error.
func (d *Daemon) synced(o watcher.Offer) error {
	var all []error
	told := d.result
	defer func() { d.result = told }()
	d.result = func(_ watcher.Offer, err error) { all = append(all, err) }
	d.bring(context.Background(), o)
	return errors.Join(all...)
}

// once brings everything up to date as a newly started program does, and fails the test where a session failed.
func (h *house) once() Report {
	h.t.Helper()
	r, err := h.daemon().Once(context.Background(), func(done, all int64) {})
	if err != nil || len(r.Failed) > 0 {
		h.t.Fatalf("once: %v, failed: %v", err, r.Failed)
	}
	return r
}

// compactAll makes the companions that a pass left for later.
func (h *house) compactAll() {
	h.t.Helper()
	d := h.daemon()
	for _, key := range d.Deferred() {
		if _, err := d.Compact(context.Background(), key, CompactOptions{Write: true}); err != nil {
			h.t.Fatal(err)
		}
	}
}

func (h *house) companion(path string) string {
	h.t.Helper()
	b := testkit.Read(h.t, strings.TrimSuffix(path, ".jsonl")+companion.Suffix)
	return string(b)
}

// samePass fails the test where a session's companion is not that of one pass over the same text.
func (h *house) samePass(path, text string) {
	h.t.Helper()
	once := newHouse(h.t)
	once.o.Compaction, once.o.Agents = h.o.Compaction, h.o.Agents
	once.write(once.path(1), text)
	once.once()
	if got, want := h.companion(path), once.companion(once.path(1)); got != want {
		h.t.Errorf("%d bytes: the companion differs from that of one pass:\n%s", len(text), firstDifference(want, got))
	}
}

// restore returns the bytes of the session's last generation as the archive has them.
func (h *house) restore(key transcript.Key) string {
	h.t.Helper()
	s, err := h.o.Archive.Session(context.Background(), key)
	testkit.Must(h.t, err)
	var b strings.Builder
	for seg, err := range h.o.Archive.Reader(key, len(s.Generations)).Segments(context.Background()) {
		testkit.Must(h.t, err)
		b.Write(seg.Data)
	}
	return b.String()
}

// stored is what the archive keeps of a session's state.
func (h *house) stored(path string) State {
	h.t.Helper()
	a, err := h.o.Archive.Session(context.Background(), key(path))
	testkit.Must(h.t, err)
	s, err := DecodeState(a.State)
	testkit.Must(h.t, err)
	return s
}

func key(path string) transcript.Key {
	return transcript.Key{Agent: "claude-code", ID: strings.TrimSuffix(filepath.Base(path), ".jsonl")}
}

// turn is the lines of one turn of an invented session: a prompt, a command with its output, an answer.
func turn(n int) string {
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC).Add(time.Duration(n) * 7 * time.Minute)
	stamp := func(s int) string { return at.Add(time.Duration(s) * time.Second).Format("2006-01-02T15:04:05.000Z") }
	common := `"isSidechain":false,"userType":"external","cwd":"/home/me/ledger","sessionId":"s","version":"2.1.0","gitBranch":"main"`
	var out strings.Builder
	for i := range 30 {
		fmt.Fprintf(&out, `row %d of run %d: balance %d cents, checked\n`, i, n, 7919*(n+1)*(i+3)%100003)
	}
	failed := n%4 == 3
	if failed {
		out.WriteString(`E   AssertionError: 48212 != 48213\n1 failed, 37 passed\n`)
	}
	return fmt.Sprintf(`{"parentUuid":null,%s,"type":"user","message":{"role":"user","content":"Please check invoice %d and keep integer cents."},"uuid":"u%d","timestamp":"%s"}`+"\n"+
		`{"parentUuid":"u%d",%s,"type":"assistant","message":{"id":"m%d","type":"message","role":"assistant","model":"claude-test-1","content":[{"type":"tool_use","id":"t%d","name":"Bash","input":{"command":"pytest -q tests/test_%d.py"}}],"usage":{"input_tokens":10,"cache_read_input_tokens":%d,"cache_creation_input_tokens":5,"output_tokens":20}},"requestId":"r%d","uuid":"a%d","timestamp":"%s"}`+"\n"+
		`{"parentUuid":"a%d",%s,"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":"%s","is_error":%t}]},"uuid":"v%d","timestamp":"%s","toolUseResult":{"stdout":"","stderr":""}}`+"\n"+
		`{"parentUuid":"v%d",%s,"type":"assistant","message":{"id":"n%d","type":"message","role":"assistant","model":"claude-test-1","content":[{"type":"text","text":"Invoice %d is checked; I decided to scale by 100 in integers because floats lose a cent."}],"usage":{"input_tokens":10,"cache_read_input_tokens":%d,"cache_creation_input_tokens":5,"output_tokens":20}},"requestId":"q%d","uuid":"b%d","timestamp":"%s"}`+"\n",
		common, n, n, stamp(0),
		n, common, n, n, n, 1000*n, n, n, stamp(5),
		n, common, n, out.String(), failed, n, stamp(9),
		n, common, n, n, 1000*n+400, n, n, stamp(14))
}

func turns(from, to int) string {
	var b strings.Builder
	for n := from; n < to; n++ {
		b.WriteString(turn(n))
	}
	return b.String()
}

// outputs is n commands of an invented session, each with an output of so many lines.
func outputs(n, lines int) string {
	var b, out strings.Builder
	for i := range n {
		out.Reset()
		for k := range lines {
			fmt.Fprintf(&out, `sheet_%d of book_%d: balance %d cents, checked\n`, k, i, 7919*(k+1)*(i+3)%100003)
		}
		fmt.Fprintf(&b, `{"type":"assistant","uuid":"oa%d","message":{"id":"om%d","role":"assistant","content":[{"type":"tool_use","id":"ot%d","name":"Bash","input":{"command":"books --number %d"}}]}}`+"\n"+
			`{"type":"user","uuid":"ou%d","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"ot%d","content":"%s"}]}}`+"\n", i, i, i, i, i, i, out.String())
	}
	return b.String()
}
