package fold

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ccd/compactor/limits"
	"ccd/internal/agent/registry"
	"ccd/internal/mark"
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

// However the records were cut, and whatever was asked in between, the fold answers the same.
func TestFoldLaw(t *testing.T) {
	s := busy(30)
	want := all(s.fold(t))
	for _, size := range []int{1, 7, 4096} {
		if got := all(s.inPieces(t, size, func(f *Fold) { all(f) })); got != want {
			a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
			n := 0
			for n < min(len(a), len(b)) && a[n] == b[n] {
				n++
			}
			t.Errorf("cut every %d bytes, line %d differs:\n%s\nwant\n%s", size, n, a[min(n, len(a)-1)], b[min(n, len(b)-1)])
		}
	}
}

// TestFoldLawSeesAMissingRecord is the control.
func TestFoldLawSeesAMissingRecord(t *testing.T) {
	s := busy(30)
	want := all(s.fold(t))
	lines := strings.SplitAfter(s.buf.String(), "\n")
	s.buf.Reset()
	s.buf.WriteString(strings.Join(slices.Delete(lines, 40, 41), ""))
	if all(s.fold(t)) == want {
		t.Error("a record is missing, and the fold answers the same")
	}
}

func TestQueries(t *testing.T) {
	f := busy(30).fold(t)
	if c := f.CharsPerToken(); c == 0 {
		t.Error("no calibration")
	}
	if _, n := f.Humans(); n != 4 || f.Human(0) != 0 || f.Human(n) != -1 || f.Human(-1) != -1 {
		t.Errorf("%d human messages, the first in row %d", n, f.Human(0))
	}
	if r := f.Row(f.Human(1)); !r.Has(Corrects) || r.Kind != transcript.Human {
		t.Errorf("the correction is %+v", r)
	}
	if !f.Row(0).Has(Constrains) {
		t.Error("the constraint is not seen")
	}
	if count, first := f.Term("splitCents"); count < 10 || f.Row(first).Kind != transcript.Text {
		t.Errorf("%d mentions, the first in row %d", count, first)
	}
	if count, first := f.Term("neverSaid"); count != 0 || first != -1 {
		t.Errorf("of what was never said: %d, %d", count, first)
	}
	// m0 to m2 were tested again without a filter, m3 and m4 were not
	if got := f.Problems(); len(got) != 2 {
		t.Errorf("%d problems", len(got))
	}
	if got := f.Jobs(); len(got) != 8 || got[0].Name != "b28" {
		t.Errorf("these go on: %+v", got)
	}
	if got := f.File("/home/me/ledger/f8.go"); got == nil || got.News() == 0 || f.File("/nowhere") != nil {
		t.Errorf("a file is %+v", got)
	}
	if _, p := f.Held(); len(p) == 0 {
		t.Error("nothing is preserved")
	}
}

func TestAsks(t *testing.T) {
	line := RequestLine + string(mark.Sum([]byte("x")).ID())
	for text, want := range map[string]bool{line + "\nSummarise": true, "prompt\n" + line: true, "go on": false, RequestLine + "nothing": false} {
		s := newSession()
		s.human(text)
		for r := range (registry.Table{}).NewDecoder("claude-code", transcript.Main).Records(transcript.Segment{Data: s.buf.Bytes(), Rest: true}) {
			if asks, settled := Asks(r); asks != want || !settled {
				t.Errorf("%q: %v, %v", text, asks, settled)
			}
		}
	}
}

// TestPastStaysTold has a session whose first records are past: what the tables tell is as if they were not, and no row
// that they name is gone.
func TestPastStaysTold(t *testing.T) {
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
