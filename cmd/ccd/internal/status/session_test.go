package status

import (
	"strings"
	"testing"
	"time"

	"ccd/cmd/ccd/internal/reader"
	"ccd/daemon"
	"ccd/internal/session"
)

// The model's report comes before the estimate, and only what is converted says about.
func TestSize(t *testing.T) {
	for want, s := range map[string]Size{
		"61K, 31%":  SizeOf(61234, 40000, 171000, 200000),
		"~40K, 20%": SizeOf(0, 40000, 171000, 200000),
		"~43K":      SizeOf(0, 0, 171000, 0), // of an older ccd
		"0, 0%":     SizeOf(0, 0, 0, 200000),
	} {
		if got := s.String(); got != want {
			t.Errorf("%+v: %q, want %q", s, got, want)
		}
	}
	if few, many := Shrunk(1000, 160), Shrunk(1000, 1000); few != "~1.0K -> ~160 tokens of messages, 84% smaller" || many != "~1.0K -> ~1.0K tokens of messages, not smaller" {
		t.Error(few, many)
	}
}

// TestNobodyWaitsInACopy: a copy that nobody has continued is at rest, whoever spoke last in it. So is an empty session.
func TestNobodyWaitsInACopy(t *testing.T) {
	now := time.Now()
	for records, want := range map[int]string{0: Resting, 3: Resting, 4: Waits} {
		e := &reader.Entry{}
		e.Root, e.Kept.Last, e.Kept.Records, e.Kept.Resumed.Records = "/h", now, records, 3
		if got := (Session{Present: true, Waiting: true, Entry: e}).state(now); got != want {
			t.Errorf("%d records, 3 of them copied: %s, want %s", records, got, want)
		}
	}
}

// TestAQuestionWaits: a question waits for days, the end of a turn for an hour.
func TestAQuestionWaits(t *testing.T) {
	now := time.Now()
	for asking, want := range map[bool]string{true: Waits, false: Resting} {
		e := &reader.Entry{}
		e.Root, e.Kept.Last, e.Kept.Records, e.Kept.Asking = "/h", now.Add(-3*time.Hour), 4, asking
		if got := (Session{Present: true, Waiting: true, Entry: e}).state(now); got != want {
			t.Errorf("asking %t: %s, want %s", asking, got, want)
		}
	}
}

// TestAQuietAgentMayHaveEnded: an agent counts as working for a minute; then it is said to be quiet, for ten minutes, or for an hour if a
// call has no result, which a person is told after five, unless a sub-agent writes.
func TestAQuietAgentMayHaveEnded(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		quiet time.Duration
		open  bool
		below time.Duration // since a sub-agent wrote
		want  string
	}{
		{time.Minute, true, time.Hour, "working"},
		{3 * time.Minute, true, time.Hour, "quiet 3m"},
		{11 * time.Minute, false, time.Hour, "idle"},
		{11 * time.Minute, true, time.Hour, "quiet 11m a call without a result for 11m"},
		{11 * time.Minute, true, time.Second, "quiet 11m"},
		{2 * time.Hour, true, time.Hour, "idle"},
	} {
		e := &reader.Entry{}
		e.Root, e.Kept.Last, e.Kept.Records, e.Kept.Open, e.Delegated = "/h", now.Add(-c.quiet), 4, c.open, now.Add(-c.below)
		one := Session{Present: true, Entry: e}
		one.State = one.state(now)
		if got := strings.TrimSpace(one.Does() + " " + one.attention()); got != c.want {
			t.Errorf("after %s: %s, want %s", c.quiet, got, c.want)
		}
	}
}

// A session has the name that its agent gave it, else what was asked first.
func TestName(t *testing.T) {
	e := entryOf("a", daemon.State{Known: session.Known{Ask: "fix\x1b[2J the cents", Cwd: "/home/you/ledger"}})
	if s := Of(e); s.Called() != `fix\x1b[2J the cents` || s.Directory() != "ledger" {
		t.Errorf("%q in %q", s.Called(), s.Directory())
	}
	if Rows(Families(nil, true)) == nil {
		t.Error("no list is a null in JSON")
	}
	e.Kept.Title = "Cents"
	if got := Of(e).Called(); got != "Cents" {
		t.Errorf("with a title: %q", got)
	}
}
