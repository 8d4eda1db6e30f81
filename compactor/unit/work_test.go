package unit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"ccd/compactor/fold"
	"ccd/compactor/lexicon"
	"ccd/compactor/limits"
	"ccd/internal/agent/registry"
	"ccd/internal/transcript"
)

// journal writes an invented session in the shape of Claude Code's transcripts. Each item is a row of its own.
type journal struct {
	buf bytes.Buffer
	at  time.Time
	n   int
}

func newJournal() *journal { return &journal{at: time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC)} }

func (j *journal) line(role string, content any) {
	j.n++
	j.at = j.at.Add(7 * time.Second)
	m := map[string]any{
		"type": role, "uuid": fmt.Sprint("u-", j.n), "timestamp": j.at.Format(time.RFC3339), "cwd": "/home/me/ledger",
		"message": map[string]any{"role": role, "content": content},
	}
	data, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	j.buf.Write(append(data, '\n'))
}

func (j *journal) say(text string) {
	j.line("assistant", []any{map[string]any{"type": "text", "text": text}})
}

// do is a call with its result: two rows.
func (j *journal) do(tool string, input map[string]any, result string, failed bool) {
	id := fmt.Sprint("t", j.n)
	j.line("assistant", []any{map[string]any{"type": "tool_use", "id": id, "name": tool, "input": input}})
	j.line("user", []any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": result, "is_error": failed}})
}

func (j *journal) bash(cmd, out string) {
	j.do("Bash", map[string]any{"command": cmd}, out, false)
}

func (j *journal) fails(cmd, out string) {
	j.do("Bash", map[string]any{"command": cmd}, "Exit code 2\n"+out, true)
}

// read is a read of a file with the numbers that the tool puts before its lines.
func (j *journal) read(path, content string) {
	var b strings.Builder
	n := 0
	for l := range strings.Lines(content) {
		n++
		fmt.Fprintf(&b, "%6d\t%s", n, l)
	}
	j.do("Read", map[string]any{"file_path": path}, b.String(), false)
}

// writer has all units of the session made for a companion.
func (j *journal) writer(o limits.Options) *writer {
	f := fold.New(o, transcript.Session{Key: transcript.Key{Agent: "claude-code", ID: "s"}})
	for r := range (registry.Table{}).NewDecoder("claude-code", transcript.Main).Records(transcript.Segment{Data: j.buf.Bytes(), Rest: true}) {
		f.Add(r)
	}
	data := bytes.Clone(j.buf.Bytes())
	source := NewSource(f, o, &Memory{}, func(s transcript.Span) ([]byte, error) { return data[s.Off:s.End()], nil })
	return All(source, Reader{Room: o.Budget(), Size: lexicon.Chars}, nil).w
}

// Age and importance enter the score in powers of two: one more record moves few items.
func TestScoreInBuckets(t *testing.T) {
	j := newJournal()
	j.say("Once.")
	w := j.writer(limits.Defaults())
	begin := w.Source.now
	for _, c := range []struct {
		age  time.Duration
		want int64
	}{{0, 1}, {14 * time.Minute, 1}, {15 * time.Minute, 2}, {29 * time.Minute, 2}, {30 * time.Minute, 4}, {time.Hour, 8}, {90 * time.Minute, 8}, {100000 * time.Hour, 4096}} {
		w.Source.now = begin + c.age.Milliseconds()
		if got := w.ageOf(w.row(0)); got != c.want {
			t.Errorf("an age of %v counts %d, want %d", c.age, got, c.want)
		}
	}
	if w.Source.now = begin - 1; w.age(w.row(0)) != 0 {
		t.Errorf("an age of %d ms is below 0", w.age(w.row(0)))
	}
	for importance, want := range map[float64]int64{0: 1, 0.2: 1, 0.25: 2, 0.5: 2, 0.75: 4, 1: 4} {
		if got := scale(importance); got != want {
			t.Errorf("importance %.2f counts %d, want %d", importance, got, want)
		}
	}
	// The score rises with size, copies and age, and falls with importance.
	w.Source.now = begin
	score := func(c candidate) int64 { return w.score(&c) }
	base := candidate{pair: pair{0, -1}, chars: 3000, importance: 0.1}
	plain, larger, copied, closed, important := base, base, base, base, base
	larger.chars, copied.copies, closed.closed, important.importance = 9000, 2, true, 0.8
	if a := score(plain); a >= score(larger) || 3*a != score(copied) || 2*a != score(closed) || a <= score(important) {
		t.Errorf("scores: %d, larger %d, three times %d, closed %d, important %d", a, score(larger), score(copied), score(closed), score(important))
	}
	before := score(base)
	w.Source.now += (6 * time.Hour).Milliseconds()
	if old := score(base); old <= before {
		t.Errorf("an old item has the score %d, %d when it was young", old, before)
	}
}

// The thirds of the score set the length of the short forms, and a hard level takes more off.
func TestThirdsSetTheLength(t *testing.T) {
	j := newJournal()
	for i := range 60 {
		j.bash(fmt.Sprintf("make target%d", i), strings.Repeat(fmt.Sprintf("unit %d\n", i), 5+i*7%90))
		j.say(fmt.Sprintf("Target %d is built.", i))
	}
	w := j.writer(limits.Defaults())
	w.until = 120
	from, to := w.before(w.until)
	w.thirds(from, to)
	all := w.found[from:to]
	counts := [3]int{}
	for _, c := range all {
		counts[c.third]++
	}
	for _, n := range counts {
		if n < len(all)/4 {
			t.Errorf("the thirds have %v pairs", counts)
		}
	}
	var lengths []int
	for third := range 3 {
		lengths = append(lengths, w.detailOf(&candidate{pair: pair{0, 1}, chars: 1500, third: third}).text)
	}
	for level := limits.Standard; level <= limits.Maximum; level++ {
		w.level = level
		lengths = append(lengths, w.detailOf(&candidate{pair: pair{0, 1}, chars: 1500, third: 2}).text)
	}
	if fmt.Sprint(lengths) != "[150 450 600 480 360 240]" {
		t.Errorf("the texts of the thirds, and of the last one at harder levels, have %v chars", lengths)
	}
}

// Work matters by what it did, and a word in focus adds 0.6.
func TestImportanceOfWork(t *testing.T) {
	j := newJournal()
	j.fails("make broken", "error: no tariff")
	j.do("Task", map[string]any{"description": "look", "prompt": "look"}, "seen", false)
	j.bash("make noisy", "main.c:3: Error: but it went on")
	j.do("Edit", map[string]any{"file_path": "/home/me/ledger/a.go", "old_string": "a", "new_string": "b"}, "done", false)
	j.bash("make tariff", "the tariff of the ferry")
	j.do("Grep", map[string]any{"pattern": "x"}, "a.go:1: x", false)
	w := j.writer(limits.Defaults())
	for row, want := range map[int32]float64{1: 0.5, 3: 0.4, 5: 0.3, 7: 0.2, 9: 0.15, 11: 0} {
		if got := w.workImportance(w.row(row)); got != want {
			t.Errorf("the result in row %d has importance %.2f, want %.2f", row, got, want)
		}
	}
	o := limits.Defaults()
	o.Focus = []string{"ferry", "tariff"}
	focused := j.writer(o)
	if got := focused.importance(9) - w.importance(9); got < 0.599 || got > 0.601 {
		t.Errorf("focus adds %.3f", got)
	}
	if got := focused.importance(11) - w.importance(11); got != 0 {
		t.Errorf("the control: what is not in focus gains %.3f", got)
	}
	if got := focused.importance(1); got != 1 {
		t.Errorf("a failure in focus has importance %.2f", got)
	}
}

// Reads of one file count as copies of each other, whatever they gave.
func TestRepeatedReadsAreRedundant(t *testing.T) {
	j := newJournal()
	for i := range 4 {
		j.read("/home/me/ledger/money.py", strings.Repeat(fmt.Sprintf("cents = %d\n", i), 60))
	}
	j.read("/home/me/ledger/other.py", strings.Repeat("other = 1\n", 60))
	w := j.writer(limits.Defaults())
	w.until = j.n
	var got []int
	for _, c := range w.candidates() {
		got = append(got, c.copies)
	}
	if fmt.Sprint(got) != "[0 0 1 2 3]" {
		t.Errorf("newest first, the reads are followed by %v others of their files", got)
	}
}

// Results of more than 1000 estimated tokens are replaced, but for the last three; one above 40000 wherever it stands.
func TestLimitsOfResults(t *testing.T) {
	j := newJournal()
	for i := range 5 {
		j.do("mcp__notes__get", map[string]any{"id": fmt.Sprint(i)}, fmt.Sprint(i)+strings.Repeat("x", 760), false)
	}
	o := limits.Defaults()
	w := j.writer(o)
	for _, c := range []struct {
		row   int32
		chars int
		want  bool
	}{{1, 750, true}, {1, 751, false}, {3, 751, false}, {5, 751, true}, {7, 751, true}, {9, 751, true}} { // 1000 tokens are 750 chars
		w.row(c.row).Chars = uint32(c.chars)
		if got := w.stands(c.row, detail{whole: true}); got != c.want {
			t.Errorf("row %d with %d chars stands: %t, want %t", c.row, c.chars, got, c.want)
		}
	}
	for keep, want := range map[int]int32{0: 10, 1: 9, 3: 5, 5: 1, 99: 0} {
		if w.o.MicroKeep = keep; w.keepFrom() != want {
			t.Errorf("%d newest results begin at row %d, want %d", keep, w.keepFrom(), want)
		}
	}
	for chars, want := range map[uint32]bool{30000: false, 30001: true} {
		w.row(1).Chars = chars
		if got := w.isLarge(w.row(1)); got != want {
			t.Errorf("a result of %d chars is large: %t", chars, got)
		}
	}
	w.o.Off = []string{"microcompact", "large"}
	if w.isMicro(9000) || w.isLarge(w.row(1)) {
		t.Error("what is switched off has a limit")
	}
}

// What is due by age or by length does not stand, whatever the room.
func TestWhatStands(t *testing.T) {
	content := strings.Repeat("cents = 1\n", 40)
	file := func(j *journal) { j.read("/home/me/ledger/money.py", content) }
	for _, c := range []struct {
		name string
		work func(j *journal)
		age  time.Duration
		want bool
	}{
		{"a file after 59 minutes", file, 59 * time.Minute, true},
		{"after 61", file, 61 * time.Minute, false},
		{"read again", func(j *journal) { file(j); j.read("/home/me/ledger/money.py", content+"more = 2\n") }, 0, false},
		{"edited since", func(j *journal) {
			file(j)
			j.do("Edit", map[string]any{"file_path": "/home/me/ledger/money.py", "old_string": "cents", "new_string": "euros"}, "done", false)
		}, 0, false},
		{"an output below the limit", func(j *journal) { j.bash("make", strings.Repeat("x", 999)) }, 9 * time.Hour, true},
		{"an output at it", func(j *journal) { j.bash("make", strings.Repeat("x", 1000)) }, 0, false},
		{"a short one says it all in its line", func(j *journal) { j.bash("make", strings.Repeat("x", 120)) }, 0, false},
		{"another result", func(j *journal) { j.do("mcp__x__y", nil, strings.Repeat("x", 740), false) }, 9 * time.Hour, true},
		{"a long one", func(j *journal) { j.do("mcp__x__y", nil, strings.Repeat("x", 2001), false) }, 0, false},
	} {
		j := newJournal()
		c.work(j)
		w := j.writer(limits.Defaults())
		w.Source.now = w.f.Milli(1) + c.age.Milliseconds()
		if got := w.stands(1, detail{whole: true}); got != c.want {
			t.Errorf("%s: stands: %t, want %t", c.name, got, c.want)
		}
		if w.stands(1, detail{}) {
			t.Errorf("%s: stands where it is not important", c.name)
		}
	}
}

// A form that lacks what must never be elided gives way to the original, and is counted.
func TestFormsThatFailStandWhole(t *testing.T) {
	j := newJournal()
	j.fails("make all", "cc -c main.c\nmain.c:3: error: unknown type name 'foo'")
	w := j.writer(limits.Defaults())
	at := pair{first: 0, result: 1}
	for _, c := range []struct {
		name, line string
		fails      bool
	}{
		{"all of it", "- #1 Bash `make all` -> 2: `main.c:3: error: unknown type name 'foo'`", false},
		{"no status", "- #1 Bash `make all`: `main.c:3: error: unknown type name 'foo'`", true},
		{"no error", "- #1 Bash `make all` -> 2: cc -c main.c [ccd 0123456789ab output, 2 lines, 60 B]", true},
	} {
		w.Fell = 0
		got := w.checked(at, form{line: c.line, kind: "output"}, full)
		if whole := strings.Contains(got.line, " -> 2") && strings.Contains(got.quote, "> main.c:3: error: unknown type name 'foo'\n"); whole != c.fails || (w.Fell == 1) != c.fails {
			t.Errorf("%s: %+v, counted %d", c.name, got, w.Fell)
		}
	}
	if f := w.form(at, terse); w.checked(at, f, terse).quote != f.quote {
		t.Errorf("our own form fails: %+v", f)
	}
}

// What stands for an item is shorter than the item, markers included.
func TestWhatReplacesIsShorter(t *testing.T) {
	j := newJournal()
	for i := range 30 {
		j.say(fmt.Sprintf("Target %d comes next, which the tariff of line %d needs. ", i, i) + strings.Repeat(fmt.Sprintf("It has %d parts. ", i), i))
		j.read(fmt.Sprintf("/home/me/ledger/f%d.go", i), strings.Repeat("cents = 1\n", 1+i*3))
		j.bash(fmt.Sprintf("make target%d", i), strings.Repeat(fmt.Sprintf("unit %d\n", i), 1+i*5))
		j.fails(fmt.Sprintf("make broken%d", i), strings.Repeat("line\n", i)+"error: no")
		j.do("Grep", map[string]any{"pattern": "x"}, strings.Repeat(fmt.Sprintf("a%d.go:1: x\n", i), 1+i), false)
	}
	w := j.writer(limits.Defaults())
	kinds := map[string]int{}
	for _, u := range w.set().Units {
		if u.Section != Conversation {
			continue
		}
		for level := range u.Worth {
			if f := u.Form(level); f.Strategy != "" {
				if kinds[f.Strategy]++; f.Saved <= 0 {
					t.Errorf("%s saves %d chars: %s", f.Strategy, f.Saved, f.Text)
				}
			}
		}
	}
	for _, kind := range []string{"file", "output", "result", "talk"} {
		if kinds[kind] == 0 {
			t.Errorf("nothing is replaced as %s: %v", kind, kinds)
		}
	}
}
