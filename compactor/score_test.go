package compactor

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// The score rises with size, age and copies, and falls with importance.
func TestScore(t *testing.T) {
	f := fold(t, day(30).buf.Bytes(), Defaults())
	d := newDraft(f.Compactor, f.text())
	last := int32(f.rows.n - 1)
	base := candidate{unit: unit{last, -1}, chars: 3000, importance: 0.1}
	for what, c := range map[string]candidate{
		"larger":    {unit: base.unit, chars: 9000, importance: 0.1},
		"said more": {unit: base.unit, chars: 3000, importance: 0.1, copies: 2},
		"closed":    {unit: base.unit, chars: 3000, importance: 0.1, closed: true},
	} {
		if d.score(&c) <= d.score(&base) {
			t.Errorf("%s: the score is %d, of the other %d", what, d.score(&c), d.score(&base))
		}
	}
	important := base
	important.importance = 0.8
	if d.score(&important) >= d.score(&base) {
		t.Errorf("an important item has score %d, another %d", d.score(&important), d.score(&base))
	}
	d.now += (6 * time.Hour).Milliseconds()
	if old := d.score(&base); old <= base.points {
		t.Errorf("score of an old item is %d", old)
	}
}

// The thirds of the score set the length of the short forms.
func TestThirdsSetTheLength(t *testing.T) {
	f := fold(t, day(40).buf.Bytes(), Defaults())
	d := newDraft(f.Compactor, f.text())
	all := d.candidates(d.last)
	counts := [3]int{}
	for _, c := range all {
		counts[c.third]++
	}
	for _, n := range counts {
		if n < len(all)/4 {
			t.Errorf("the thirds have %v units", counts)
		}
	}
	long := candidate{chars: 1500}
	var lengths []int
	for third := range 3 {
		long.third = third
		lengths = append(lengths, d.detailOf(&long).text)
	}
	if lengths[0] >= lengths[1] || lengths[1] >= lengths[2] {
		t.Errorf("texts of the thirds have %v chars", lengths)
	}
}

// Words in focus make what holds them stand longer.
func TestFocus(t *testing.T) {
	s := newScript()
	s.human("Look around.")
	for range 30 {
		s.bash("make notes", strings.Repeat("Nothing of interest in these notes. ", 50))
	}
	s.bash("make tariff", strings.Repeat("The tariff of the ferry is in here. ", 50))
	s.padded()
	o := tokensOf(16000)
	without := fold(t, s.buf.Bytes(), o)
	plain := without.compact(t).section("Earlier")
	o.Focus = []string{"tariff", "ferry"}
	with := fold(t, s.buf.Bytes(), o)
	focused := with.compact(t)
	with.check(t, focused)
	if got, before := strings.Count(focused.section("Earlier"), "tariff of the ferry"), strings.Count(plain, "tariff of the ferry"); got <= before {
		t.Errorf("in focus it stands %d times, else %d:\n%s", got, before, focused.section("Earlier"))
	}
}

// Each strategy that is switched off changes the companion, and no law with it.
func TestStrategiesCanBeSwitchedOff(t *testing.T) {
	data := everything().buf.Bytes()
	for _, name := range Strategies() {
		changes := false
		for _, tokens := range []int{40000, 30000} {
			o := tokensOf(tokens)
			whole := fold(t, data, o).compact(t).all()
			o.Off = []string{name}
			f := fold(t, data, o)
			c := f.compact(t)
			f.check(t, c)
			changes = changes || c.all() != whole
		}
		if !changes {
			t.Errorf("%s: switching it off changes nothing", name)
		}
	}
}

// everything is a session in which each strategy has something to do.
func everything() *script {
	s := newScript()
	s.used = 20000
	s.human("Count the cents. You must never use floats.")
	s.line("user", map[string]any{"role": "user", "content": []any{
		map[string]any{"type": "text", "text": "Look at this."},
		map[string]any{"type": "image", "source": map[string]any{"type": "base64", "media_type": "image/png", "data": strings.Repeat("iVBORw0KGgoAAAA", 200)}},
	}}, nil)
	s.do("TodoWrite", map[string]any{"todos": []any{map[string]any{"content": "count the cents", "status": "in_progress"}}}, "ok")
	s.do("Task", map[string]any{"description": "find floats", "prompt": "Find all."}, "Seven floats are left.")
	for i := range 12 {
		s.say(fmt.Sprintf("The export rounds parseRate%d twice, because the tariff of line %d is read first. %s", i, i,
			strings.Repeat("There is more to say about the weather of the day. ", 12)))
	}
	var list strings.Builder
	for i := range 40 {
		fmt.Fprintf(&list, "Then there is the alphaBeta%d of the northern office to look at. ", i)
	}
	s.say(list.String())
	s.say("Use this instead of the loop, which the suite does not cover at all and which nobody has touched for years:\n```go\nfunc cents(s string) int { return parse(s) }\n```\n" +
		strings.Repeat("It is shorter and it says what it does. ", 60))
	s.read("/home/me/ledger/old.py", strings.Repeat("old = 1\n", 200))
	s.bash("make list", strings.Repeat("a line of the list\n", 150))
	s.do("Grep", map[string]any{"pattern": "float"}, strings.Repeat("ledger/money.py:12: float(x)\n", 60))
	s.fails("make all", "main.c:3: error: unknown type name 'foo'", 2)
	s.bash("make all", "fine")
	s.fails("make docs", "docs.c:9: error: no rule", 2)
	s.edit("/home/me/ledger/money.py", "float(x)", "cents(x)")
	s.at = s.at.Add(3 * time.Hour)
	for i := range 14 {
		s.round(2000 + i)
	}
	var errors strings.Builder
	for i := range 20 {
		fmt.Fprintf(&errors, "error: table %d is cut\n", i)
	}
	s.bash("make dump", strings.Repeat("a dump of the tables goes on\n", 2000)+errors.String()+strings.Repeat("a dump of the tables goes on\n", 2000))
	s.say("All cents are counted.")
	return s
}
