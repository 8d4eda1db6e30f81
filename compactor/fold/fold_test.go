package fold

import (
	"fmt"
	"strings"
	"testing"

	"ccd/compactor/limits"
	"ccd/internal/agent/registry"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

// busy is a session in which everything happens that the tables tell of.
func busy(rounds int) *session {
	s := newSession()
	s.human("The nightly export writes 48,212 cents. Fix it, but never touch the schema.")
	s.used = 20000
	for i := range rounds {
		name := fmt.Sprintf("/home/me/ledger/f%d.go", i%9)
		s.think("Where does the cent go?")
		s.say(fmt.Sprintf("I decided to read %s, because splitCents must happen there.", name))
		s.read(name, "package ledger\n")
		s.write(name, fmt.Sprintf("v%d\n", i))
		s.edit(name, "v", "w")
		s.bash(fmt.Sprintf("git mv f%d.go lib/f%d.go", i%4, i%4), "")
		s.fails(fmt.Sprintf("go test ./m%d -run TestA", i%5), "error: no", 2)
		s.bash(fmt.Sprintf("go test ./m%d", i%3), "ok")
		s.fails("ls nowhere", "no such file", 2)
		s.do("TaskCreate", map[string]any{"subject": fmt.Sprint("task ", i)}, fmt.Sprintf("Task #%d created successfully: x", i))
		s.bash("make slow", fmt.Sprintf("Command running in background with ID: b%d. Output", i))
		if i%4 > 0 {
			s.do("BashOutput", map[string]any{"bash_id": fmt.Sprint("b", i)}, "<status>completed</status>\n<exit_code>0</exit_code>")
		}
		s.do("Task", map[string]any{"description": fmt.Sprint("look ", i), "prompt": "look"}, "found")
		if i%10 == 5 {
			s.human(fmt.Sprintf("no, keep splitCents in round %d", i))
		}
		if i == rounds*2/3 {
			s.boundary("u-3", "u-5")
		}
	}
	return s
}

// all is everything that a fold answers, as text.
func all(f *Fold) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%+v\n%v %v %v\n", f.Status(), f.Level(), f.CharsPerToken(), f.WideShare())
	from, to := f.Records()
	h, a, z := f.Range(from, to)
	start, preserved := f.Held()
	fmt.Fprintln(&b, from, to, h, a, z, f.PastChars(), start, preserved, f.HeldTotal(), f.Root(), f.Given(), f.LastText(), f.MostRefs())
	for rec := from; rec < to; rec++ {
		first, end := f.Items(rec)
		fmt.Fprintln(&b, rec, f.Line(rec), f.Time(rec), f.Milli(rec), f.HasItems(rec), first, end)
	}
	first, end := f.Rows()
	for i := first; i < end; i++ {
		r := f.Row(i)
		fmt.Fprintf(&b, "%+v %v %s %d %v\n", *r, f.Span(r), f.Tool(r), r.Record(), f.IsOpen(i))
	}
	place, n := f.Humans()
	for i := place; i < n; i++ {
		fmt.Fprintln(&b, "human", i, f.Human(i))
	}
	for i := first; i < end; i++ {
		if t := f.Text(i); t != nil {
			fmt.Fprintf(&b, "%+v\n", *t)
		}
	}
	for _, file := range f.Files() {
		fmt.Fprintf(&b, "%+v %d %v\n", *file, file.News(), f.File(file.Path) == file)
	}
	for _, c := range f.Commands() {
		fmt.Fprintf(&b, "%+v\n", *c)
	}
	for _, p := range f.Problems() {
		fmt.Fprintf(&b, "%+v\n", *p)
	}
	for _, g := range f.Agents() {
		fmt.Fprintf(&b, "%+v\n", *g)
	}
	plan, row := f.Plan()
	count, term := f.Term("splitCents")
	fmt.Fprintln(&b, plan, row, f.Jobs(), count, term, f.FilesForgotten(), f.CommandsForgotten(), f.tables.problems.evicted)
	return b.String()
}

// TestPastStaysTold has a session whose first records are past: what the tables tell is as if they were not, and no row
// that they name is gone.
func TestPastStaysTold(t *testing.T) {
	testkit.Long(t, "a session whose first records are past")
	s := busy(600)
	whole := s.fold(t)
	some := New(limits.Defaults(), transcript.Session{Key: transcript.Key{Agent: "claude-code", ID: "s"}})
	some.reach = pastStep
	for r := range (registry.Table{}).NewDecoder("claude-code", transcript.Main).Records(transcript.Segment{Data: s.buf.Bytes(), Rest: true}) {
		some.Add(r)
	}
	if from, _ := some.Records(); from == 0 {
		t.Fatal("nothing is past")
	}
	tables := func(f *Fold) string {
		text := all(f)
		return text[strings.LastIndex(text, "\nhuman"):]
	}
	short := func(f *Fold) string { // the texts of the past are not told
		text := tables(f)
		return text[strings.Index(text, "Path:"):]
	}
	if short(some) != short(whole) {
		t.Error("the tables differ")
	}
	if some.CharsPerToken() != whole.CharsPerToken() || some.Status().Pressure != whole.Status().Pressure {
		t.Error("what was measured differs")
	}
	some.tables.eachRow(func(i int32) {
		if i >= 0 && (some.Row(i).Gone() || *some.Row(i) != *whole.Row(i)) {
			t.Errorf("row %d is told of and gone", i)
		}
	})
	if some.Size() >= whole.Size() {
		t.Errorf("%d bytes are held, %d without a past", some.Size(), whole.Size())
	}
}
