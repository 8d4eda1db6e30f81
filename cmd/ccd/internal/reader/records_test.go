package reader

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ccd/archive"
	"ccd/cmd/ccd/internal/account"
	"ccd/compactor/limits"
	"ccd/internal/mark"
	"ccd/internal/redact"
	"ccd/internal/session"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

// shelf is an archive that verifies itself at cleanup.
type shelf struct {
	*archive.Archive
	t *testing.T
}

func newShelf(t *testing.T) *shelf {
	t.Helper()
	a, err := archive.Open(filepath.Join(t.TempDir(), "archive.db"), archive.Options{})
	testkit.Must(t, err)
	t.Cleanup(func() {
		if report, err := a.Verify(context.Background(), nil); err != nil || len(report.Damage) > 0 {
			t.Errorf("verify: %v, damage %v", err, report.Damage)
		}
	})
	return &shelf{a, t}
}

// put archives text as the whole of a generation.
func (s *shelf) put(id string, class transcript.Class, generation int, text string) transcript.Session {
	s.t.Helper()
	one := transcript.Session{Key: transcript.Key{Agent: "claude-code", ID: id}, Class: class, Path: "/h/" + id + ".jsonl", Root: "/h"}
	seg := transcript.Segment{
		Start: transcript.Cursor{Generation: generation}, Data: []byte(text), Rest: true,
		End: transcript.Cursor{Generation: generation, Offset: int64(len(text))},
	}
	testkit.Must(s.t, s.Append(context.Background(), one, seg))
	return one
}

// reading returns the newest generation of a session.
func (s *shelf) reading(one transcript.Session) Reading {
	s.t.Helper()
	l := Library{Place: &account.Place{Archive: s.Archive}}
	e := l.Session(context.Background(), one.Key)
	r, err := l.Reading(e, 0)
	testkit.Must(s.t, err)
	return r
}

func (s *shelf) record(one transcript.Session, n int) (Original, error) {
	l := Library{Place: &account.Place{Archive: s.Archive}}
	for o, err := range l.Records(context.Background(), l.Session(context.Background(), one.Key), Wanted{}, n, n) {
		return o, err
	}
	return Original{}, nil
}

// bytesOf returns what the archive has of a pointer, its parts joined by newline.
func (s *shelf) bytesOf(f archive.Found) string {
	s.t.Helper()
	var b strings.Builder
	at := 0
	for p, err := range s.Raw(context.Background(), f) {
		testkit.Must(s.t, err)
		if p.Index > at {
			b.WriteByte('\n')
			at = p.Index
		}
		b.Write(p.Data)
	}
	return b.String()
}

func line(kind, uuid, content string) string {
	return fmt.Sprintf(`{"type":%q,"uuid":%q,"timestamp":"2026-02-03T04:05:06.000Z","cwd":"/src/ink","message":{"role":%q,"content":%s}}`+"\n",
		kind, uuid, kind, content)
}

func asked(uuid, text string) string { return line("user", uuid, fmt.Sprintf("%q", text)) }

func called(uuid, id, tool, input string) string {
	return line("assistant", uuid, fmt.Sprintf(`[{"type":"tool_use","id":%q,"name":%q,"input":%s}]`, id, tool, input))
}

func returned(uuid, id, text string, failed bool) string {
	return line("user", uuid, fmt.Sprintf(`[{"type":"tool_result","tool_use_id":%q,"content":%q,"is_error":%v}]`, id, text, failed))
}

func TestRecordAndItems(t *testing.T) {
	s := newShelf(t)
	first := asked("a", "Mix the ink")
	two := line("user", "b", `[{"type":"text","text":"one"},{"type":"text","text":"two"}]`)
	odd := `{"type":"brand-new","x":1}` + "\n"
	text := first + two + odd + "{torn"
	one := s.put("S", transcript.Main, 1, text)

	tests := []struct {
		n     int
		shape transcript.Shape
		raw   string
	}{
		{1, transcript.Single, `"Mix the ink"`},
		{2, transcript.List, "\"one\"\n\"two\""},
		{3, transcript.Lines, strings.TrimSuffix(odd, "\n")},
		{4, transcript.Lines, "{torn"},
	}
	for _, tt := range tests {
		o, err := s.record(one, tt.n)
		testkit.Must(t, err)
		if o.found.Shape != tt.shape || o.found.Record != tt.n {
			t.Errorf("record %d: shape %v of record %d", tt.n, o.found.Shape, o.found.Record)
		}
		if got := s.bytesOf(o.found); got != tt.raw {
			t.Errorf("record %d: %q, want %q", tt.n, got, tt.raw)
		}
		line := archive.Found{Pointer: *o.line, Key: one.Key, Generation: 1}
		if got, want := s.bytesOf(line)+"\n", strings.SplitAfter(text+"\n", "\n")[tt.n-1]; got != want {
			t.Errorf("record %d: whole line %q, want %q", tt.n, got, want)
		}
	}
	for _, n := range []int{0, -1, 5} {
		if _, err := s.record(one, n); !errors.Is(err, archive.ErrNotFound) || !strings.Contains(err.Error(), fmt.Sprintf("S#%d: ", n)) {
			t.Errorf("record %d: %v, want ErrNotFound", n, err)
		}
	}
}

// A decoder that begins in the middle of a session gives its secrets the numbers of the whole, also one that it repeats.
func TestNumbersAreThoseOfTheWholeSession(t *testing.T) {
	s := newShelf(t)
	first, second := "AKIAQWERTYUIOPASDFGH", "AKIAZXCVBNMASDFGHJKL"
	begin, end := asked("a", "One is "+first), asked("b", "Two are "+second+" and "+first)
	one := s.put("S", transcript.Main, 1, begin+end)
	rules, err := redact.New(redact.Config{})
	testkit.Must(t, err)
	r := s.reading(one)
	r.Agents.Redact = rules
	numbers := r.Numbers(context.Background())
	for range 2 {
		d := r.Decoder()
		d.Redact.Whole = numbers
		for r := range d.Records(transcript.Segment{Start: transcript.Cursor{Generation: 1, Offset: int64(len(begin))}, Data: []byte(end)}) {
			if got, want := string(r.Items[0].Raw), `"Two are [redacted aws-key 2] and [redacted aws-key 1]"`; got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
	}
	if r.ID = "none"; r.Numbers(context.Background())() != nil {
		t.Error("a session that cannot be read has numbers")
	}
}

func (s *shelf) turns(t *testing.T, one transcript.Session) []Turn {
	t.Helper()
	m := session.New(limits.Defaults(), one)
	for r, err := range s.reading(one).Records(context.Background()) {
		testkit.Must(t, err)
		m.Add(r)
	}
	src := session.NewSource(m, func(at transcript.Span) ([]byte, error) {
		return s.Reader(one.Key, 1).Span(context.Background(), at)
	})
	return Turns(m, src.Said)
}

func TestTurns(t *testing.T) {
	s := newShelf(t)
	one := s.put("A", transcript.Main, 1, strings.Join([]string{
		called("p", "c0", "Read", `{"file_path":"/src/ink/README.md"}`), // before anything was asked
		returned("p1", "c0", "# Ink", false),
		asked("a", "Mix the ink"),
		called("b", "c1", "Bash", `{"command":"make ink"}`),
		returned("c", "c1", "Exit code 2\nno gum", true),
		called("d", "c2", "Bash", `{"command":"make gum ink"}`),
		returned("e", "c2", "mixed", false),
		called("f", "c3", "Edit", `{"file_path":"/src/ink/recipe.txt","old_string":"a","new_string":"b"}`),
		returned("f1", "c3", "The file has been updated", false),
		called("g", "c4", "Write", `{"file_path":"/src/ink/failed.txt","content":"b"}`),
		returned("g1", "c4", "EACCES: permission denied", true),
		called("g2", "c5", "Write", `{"file_path":"/src/ink/refused.txt","content":"b"}`),
		returned("g3", "c5", "The user doesn't want to proceed with this tool use. STOP", true),
		line("user", "m", `"<system-reminder>not a person</system-reminder>"`),
		asked("h", "Thanks"),
		called("i", "c7", "Edit", `{"file_path":"/src/ink/recipe.txt","old_string":"b","new_string":"c"}`),
		returned("j", "c7", "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, "+
			`the new_string was NOT written to the file). To tell you how to proceed, the user said:`+"\n"+`wait`, true),
		called("g4", "c6", "Write", `{"file_path":"/src/ink/unanswered.txt","content":"b"}`),
	}, ""))
	got := s.turns(t, one)
	if len(got) != 3 || got[0].Asked != "" || got[1].Asked != "Mix the ink" || got[2].Asked != "Thanks" {
		t.Fatalf("turns: %+v", got)
	}
	if got[2].Refused != 1 || len(got[2].Files) != 0 || len(got[2].Words) != 1 || got[2].Words[0].Text != "wait" || got[2].Words[0].How != Refusal {
		t.Errorf("a refusal with words: %+v", got[2])
	}
	two, zero := 2, 0
	want := got[1]
	want.ID = mark.Sum([]byte(`"Mix the ink"`)).ID()
	want.Record, want.Last, want.Failed, want.Refused = 3, 14, 2, 1
	want.Tools = []Tool{{Name: "Bash", Calls: 2}, {Name: "Edit", Calls: 1}, {Name: "Write", Calls: 2}}
	want.Files = []string{"/src/ink/recipe.txt"}
	want.Commands = []Command{
		{Record: 4, Line: "make ink", Exit: &two, ID: mark.Sum([]byte(`"Exit code 2\nno gum"`)).ID()},
		{Record: 6, Line: "make gum ink", Exit: &zero, ID: mark.Sum([]byte(`"mixed"`)).ID()},
	}
	if diff := cmp.Diff(want, got[1]); diff != "" {
		t.Errorf("turn (-want +got):\n%s", diff)
	}
}

// TestWordsWithinATurn tests what a person sent while the agent worked, took back, and gave to a sub-agent.
func TestWordsWithinATurn(t *testing.T) {
	s := newShelf(t)
	queue := func(operation, text string) string {
		return fmt.Sprintf(`{"type":"queue-operation","operation":%q,"content":%q}`+"\n", operation, text)
	}
	lines := strings.Join([]string{
		asked("a", "Mix the ink"), called("b", "c1", "Bash", `{"command":"make ink"}`), queue("enqueue", "no gum"), queue("enqueue", "take it again"),
		queue("remove", ""), returned("c", "c1", "mixed", false), queue("dequeue", ""), asked("d", "take it again"),
		strings.Replace(asked("e", "less of it"), `"uuid"`, `"parentUuid":"c","uuid"`, 1),
	}, "")
	got := s.turns(t, s.put("A", transcript.Main, 1, lines))
	if len(got) != 3 || !got[1].Back || got[0].Back || got[2].Asked != "less of it" || got[0].Task {
		t.Fatalf("turns: %+v", got)
	}
	if w := got[0].Words; len(w) != 1 || w[0].Record != 3 || w[0].Text != "no gum" || w[0].How != Queued || w[0].ID != mark.Sum([]byte(`"no gum"`)).ID() {
		t.Errorf("words: %+v", w)
	}
	if got = s.turns(t, s.put("B", transcript.SubAgent, 1, asked("a", "Mix the ink"))); len(got) != 1 || !got[0].Task || got[0].Asked != "Mix the ink" {
		t.Errorf("of a sub-agent: %+v", got)
	}
}

// TestTurnsStayBounded tests that a turn of any length takes a bounded amount of memory, and counts what it leaves out.
func TestTurnsStayBounded(t *testing.T) {
	s := newShelf(t)
	var b strings.Builder
	b.WriteString(asked("a", strings.Repeat("long ", 1000)))
	for i := range 1000 {
		b.WriteString(called(fmt.Sprint("b", i), fmt.Sprint("c", i), "Bash", fmt.Sprintf(`{"command":"step %d"}`, i)))
		b.WriteString(called(fmt.Sprint("d", i), fmt.Sprint("e", i), "Write", fmt.Sprintf(`{"file_path":"/src/%d","content":""}`, i)))
		b.WriteString(returned(fmt.Sprint("f", i), fmt.Sprint("e", i), "written", false))
	}
	one := s.put("A", transcript.Main, 1, b.String())
	for _, turn := range s.turns(t, one) {
		if len(turn.Commands)+turn.MoreCommand != 1000 || len(turn.Commands) != 200 {
			t.Errorf("%d commands and %d more", len(turn.Commands), turn.MoreCommand)
		}
		if len(turn.Files)+turn.MoreFiles != 1000 || len(turn.Files) != 50 {
			t.Errorf("%d files and %d more", len(turn.Files), turn.MoreFiles)
		}
		if len(turn.Asked) != 2000 {
			t.Errorf("asked: %d characters", len(turn.Asked))
		}
	}
}
