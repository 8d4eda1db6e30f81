package scorecard

import (
	"strings"
	"testing"

	"ccd/internal/mark"
)

func TestVisible(t *testing.T) {
	long := strings.Repeat("the wheel turns and the flour falls ", 4) // 144 chars
	id := mark.Sum([]byte("x")).ID()
	path := fact{forms: []string{"src/wheel.go", "/home/me/mill/src/wheel.go"}}
	for _, c := range []struct {
		class Class
		one   fact
		text  string
		want  bool
	}{
		{Asked, fact{text: "Grind the rye."}, "> Grind\n> the  `rye`.\n", true},
		{Asked, fact{text: "Grind the rye."}, "> Grind the oats.\n", false},
		{Asked, fact{text: "use \\x41 and [ccd"}, mark.Quote("  ", "use \\x41 and [ccd"), true},
		{Asked, fact{text: "a\u200bb"}, mark.Quote("", "a\u200bb"), true},
		{Asked, fact{text: "a\u200bb"}, "a\\xe2\\x80\\x8bc", false},
		{Asked, fact{text: normal(strings.Repeat("x", 3000))}, mark.Quote("", strings.Repeat("x", 3000)), true},
		{Asked, fact{text: "begin", tail: "end", id: id}, "begin [ccd " + string(id) + " cut, 4000 chars] end", true},
		{Asked, fact{text: "begin", tail: "end", id: id}, "begin [ccd 000000000000 cut] end", false},
		{Asked, fact{text: "begin", tail: "end", id: id}, "> begin [\\ccd " + string(id) + " cut] end", false},
		{Asked, fact{text: "begin", tail: "end", id: id}, "begin [ccd " + string(id) + " cut]", false},
		{Decisions, fact{text: head(long, 120)}, "- " + head(long, 90) + "… (#4)", true},
		{Decisions, fact{text: head(long, 120)}, "- " + head(long, 70) + "… (#4)", false},
		{Decisions, fact{text: head(long, 120)}, "- " + head(long, 90) + " or not", false},
		{Decisions, fact{text: "short one"}, "- short…", false},
		{Edited, path, "- edited 2x `src/wheel.go` (last #4)", true},
		{Edited, path, "wrote /home/me/mill/src/wheel.go", true},
		{Edited, path, "wrote ./src/wheel.go", true},
		{Edited, path, "wrote src/wheel.gold", false},
		{Edited, path, "wrote src/wheel.go.bak", false},
		{Edited, path, "wrote wheel.go", false},
		{Edited, path, "wrote other_src/wheel.go", false},
		{Edited, path, "wrote src/wheel.go.", true},
		{Edited, fact{forms: []string{"a.go"}}, "wrote src/a.go", false},
		{Edited, fact{forms: []string{"a.go"}}, "wrote `a.go`, b.go", true},
		{Identifiers, fact{text: "grindRye"}, "call grindRye()", true},
		{Identifiers, fact{text: "grindRye"}, "call mill.grindRye.", true},
		{Identifiers, fact{text: "grindRye"}, "call grindRyeTwice", false},
		{Identifiers, fact{text: "grindRye"}, "call pregrindRye", false},
		{Hashes, fact{text: "1.2.3"}, "version 1.2.3.", true},
		{Hashes, fact{text: "1.2.3"}, "version 1.2.3.4", false},
		{Hashes, fact{text: "9f31c07"}, "id 9f31c07.jsonl", true},
		{Numbers, fact{text: "12 ms"}, "in 112 ms", false},
		{Numbers, fact{text: "12 ms"}, "in 12\n ms.", true},
		{Commands, fact{text: "make all", status: "0"}, "- #4 `make all` -> 0", true},
		{Commands, fact{text: "make all", status: "1"}, "- #4 `make all` -> 0", false},
		{Commands, fact{text: "make all", status: "1"}, "make all\nexit 1", true},
		{Commands, fact{text: "make all", status: "1"}, "make all\n\n\nexit 1", false},
		{Commands, fact{text: "make all", status: "1"}, "- exit 1: `make none`, `make all`", true},
		{Commands, fact{text: "make all", status: "1"}, "make all gave 1 file", false},
		{Commands, fact{text: "make all", status: "0"}, "make all: ok", true},
		{Commands, fact{text: "make all", status: "failed"}, "make all -> 3", true},
		{Commands, fact{text: "make all", status: "failed"}, "make all -> 0", false},
		{Commands, fact{text: "make all"}, "make all", true},
		{Plan, fact{text: "Buy rye", status: "completed"}, "- [x] Buy rye", true},
		{Plan, fact{text: "Buy rye", status: "completed"}, "- [ ] Buy rye", false},
		{Plan, fact{text: "Buy rye", status: "pending"}, "- [ ] Buy rye", true},
		{Plan, fact{text: "Buy rye", status: "in_progress"}, "- [>] Buy rye", true},
		{Plan, fact{text: "Buy rye", status: "in_progress"}, "- [x] Buy rye", false},
		{Images, fact{id: id}, "[ccd " + string(id) + " image png 2x2]", true},
		{Images, fact{id: id}, "an image", false},
		{Contents, fact{forms: path.forms, status: "60", tail: "package wheel"}, "[ccd 000000000000 file src/wheel.go, 60 lines]", true},
		{Contents, fact{forms: path.forms, status: "60", tail: "package wheel"}, "[ccd 000000000000 file src/wheel.go, 160 lines]", false},
		{Contents, fact{forms: path.forms, status: "60", tail: "package wheel"}, "> package wheel", true},
	} {
		p := newPage(c.text)
		if got := p.shows(c.class, &c.one); got != c.want {
			t.Errorf("%s %q in %q: visible %v, want %v", c.class, c.one.text+strings.Join(c.one.forms, " "), head(c.text, 100), got, c.want)
		}
	}
}

func TestFrontMatterIsNoText(t *testing.T) {
	f := newLog().human("Grind the rye.").facts()
	if g := grade(t, f, "---\nccd: 1\nasked: Grind the rye.\n---\nbody\n", nil); g.Mean != 0 || g.Chars != len("body\n") {
		t.Errorf("mean %v, %d chars: the front matter was read", g.Mean, g.Chars)
	}
	if g := grade(t, f, "---\nccd: 1\n---\nGrind the rye.\n", nil); g.Mean != 1 {
		t.Errorf("mean %v, want 1", g.Mean)
	}
}

// A fact is recoverable where an ID gives back the bytes that it was taken from: the item, as it stands or as it was
// seen, or its line; and only then.
func TestRecoverable(t *testing.T) {
	l := newLog().human("Grind the rye.")
	f, line := l.facts(), l.lines[0]
	id, other := mark.Sum([]byte(line)).ID(), mark.Sum([]byte("other")).ID()
	text := "[ccd " + string(id) + " range #1-#1, 1 records]"
	for name, c := range map[string]struct {
		text    string
		restore Restore
		want    Count
	}{
		"its line":               {text, restoring(map[mark.ID][]string{id: {"another line", line}}), Count{Recoverable: 1}},
		"its text":               {text, restoring(map[mark.ID][]string{id: {"Grind the rye."}}), Count{Recoverable: 1}},
		"its raw span":           {text, restoring(map[mark.ID][]string{id: {`"Grind the rye."`}}), Count{Recoverable: 1}},
		"one byte less":          {text, restoring(map[mark.ID][]string{id: {line[1:]}}), Count{Lost: 1}},
		"another original":       {text, restoring(map[mark.ID][]string{id: {"other"}}), Count{Lost: 1}},
		"it cannot be had":       {text, restoring(nil), Count{Lost: 1}},
		"there is no archive":    {text, nil, Count{Lost: 1}},
		"the text names no ID":   {"nothing", restoring(map[mark.ID][]string{id: {line}}), Count{Lost: 1}},
		"it names another":       {"[ccd " + string(other) + " range]", restoring(map[mark.ID][]string{id: {line}}), Count{Lost: 1}},
		"the ID stands in quote": {"> " + text, restoring(map[mark.ID][]string{id: {line}}), Count{Lost: 1}},
		"it stands, too":         {"Grind the rye. " + text, restoring(nil), Count{Visible: 1}},
	} {
		got := grade(t, f, c.text, c.restore).Classes[Asked]
		if got.Visible != c.want.Visible || got.Recoverable != c.want.Recoverable || got.Lost != c.want.Lost {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// The plain text of a session shows all that is in it but IDs and states, an empty text nothing.
func TestGradeOfEverythingAndNothing(t *testing.T) {
	l := newLog().human("Grind the rye of https://mill.example, 40 sacks of it.").
		bash("make all", "ok").fails("make rye", "error: no flour").file("Edit", "/home/me/mill/src/wheel.go").
		say("I decided to grind oats instead of rye, see grindOats.")
	f := l.facts()
	if g := grade(t, f, f.Tail(1<<20), nil); g.Mean != 1 {
		t.Errorf("the plain text: mean %.3f, %+v", g.Mean, g.Classes)
	}
	if g := grade(t, f, "", nil); g.Mean != 0 || g.All.Lost != g.All.Facts || g.All.Facts < 9 {
		t.Errorf("the empty text: mean %.3f, %+v", g.Mean, g.All)
	}
	if g := grade(t, New(), "", nil); g.Mean != 1 || g.Strong != 1 || g.Trace != 1 {
		t.Errorf("an empty session: %+v, want nothing to miss", g)
	}
}

func TestBaselines(t *testing.T) {
	l := newLog().human("Grind the rye.")
	for _, word := range []string{"first", "second", "third", "fourth"} {
		l.bash("echo "+word, strings.Repeat(word+" sack ", 20))
	}
	f := l.say("That was the last sack.").facts()
	for name, text := range map[string]string{"tail": f.Tail(100), "head+tail": f.HeadTail(100), "stub": f.Stub(100)} {
		if n := len([]rune(text)); n > 100 {
			t.Errorf("%s has %d chars", name, n)
		}
	}
	if text := f.Tail(100); !strings.Contains(text, "That was the last sack.") || strings.Contains(text, "Grind") {
		t.Errorf("tail: %q", text)
	}
	if text := f.HeadTail(100); !strings.Contains(text, "Grind the rye.") || !strings.Contains(text, "last sack.") {
		t.Errorf("head and tail: %q", text)
	}
	if text := f.Stub(10000); strings.Contains(text, "first sack") || !strings.Contains(text, "second sack") || !strings.Contains(text, "echo first") {
		t.Errorf("stub: %q", text)
	}
}

// However much is written, a baseline keeps its ends only.
func TestBaselinesAreBounded(t *testing.T) {
	var e ends
	for range 300 {
		e.write(strings.Repeat("x", maxBaseline))
	}
	e.write("END")
	if len(e.first) > 8*maxBaseline || len(e.last) > 20*maxBaseline || !e.cut || !strings.HasSuffix(string(e.last), "END") {
		t.Errorf("%d and %d bytes are kept", len(e.first), len(e.last))
	}
}

func FuzzGrade(f *testing.F) {
	f.Add("Grind the rye.", "> Grind the `rye`.\n[ccd 000000000000 range]\n>+ more\n")
	f.Add("```\n", "---\n\n---\n")
	f.Add("https:// 1.2.3 a_b `x`", "…")
	f.Fuzz(func(t *testing.T, said, text string) {
		facts := newLog().human(said).say(said).bash(said, said).fails(said, said).facts()
		grade(t, facts, text, nil)
		g := grade(t, facts, facts.Tail(1<<20), nil)
		if g.All.Facts > 0 && strings.TrimSpace(said) == said && g.Mean == 0 && !strings.ContainsAny(said, "\x1b") && len(normal(said)) > 0 {
			t.Errorf("the plain text of %q shows nothing", said)
		}
	})
}

func BenchmarkAdd(b *testing.B) {
	l := newLog()
	for range 200 {
		l.say(strings.Repeat("I decided to use grindRye instead of mill_stone in 40 ms, see `wheel.go`. The flour falls. ", 20))
		l.bash("go test ./...", strings.Repeat("=== a step of the wheel\n", 200))
	}
	b.SetBytes(int64(len(strings.Join(l.lines, "\n"))))
	for b.Loop() {
		l.facts()
	}
}
