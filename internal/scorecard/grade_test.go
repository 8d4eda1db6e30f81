package scorecard

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
)

func TestVisible(t *testing.T) {
	long := strings.Repeat("the wheel turns and the flour falls ", 4) // 144 chars
	id := mark.Sum([]byte("x")).ID()
	name := fact{text: "grindRye", spots: []spot{{words: []string{"turn", "every", "wheel", "hand"}}}}
	short := fact{text: "grindRye", spots: []spot{{before: "The request for the wheel is open:", self: "grindRye"}}}
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
		{Decisions, fact{text: lexicon.Head(long, 120)}, "- " + lexicon.Head(long, 90) + "… (#4)", true},
		{Decisions, fact{text: lexicon.Head(long, 120)}, "- " + lexicon.Head(long, 70) + "… (#4)", false},
		{Decisions, fact{text: lexicon.Head(long, 120)}, "- " + lexicon.Head(long, 90) + " or not", false},
		{Decisions, fact{text: "short one"}, "- short…", false},
		{Decisions, fact{text: lexicon.Head(long, 120)}, "[ccd 000000000000 answer: " + lexicon.Head(long, 90) + " ... more]", true},
		{Answers, fact{text: "All is done."}, "> All is done. Next", true},
		{Answers, fact{text: "All is done."}, "The hAll is done.", false},
		{Asked, fact{text: "yes"}, "> yes", true},
		{Asked, fact{text: "yes"}, "- #5 09:12Z: yes", true},
		{Asked, fact{text: "yes"}, "the human said \"yes\" to it", true},
		{Asked, fact{text: "yes"}, "so yes it is", false},
		{Edited, path, "- edited 2x `src/wheel.go` (last #4)", true},
		{Edited, path, "wrote /home/me/mill/src/wheel.go", true},
		{Edited, path, "wrote ./src/wheel.go", true},
		{Edited, path, "wrote src/wheel.gold", false},
		{Edited, path, "wrote src/wheel.go.bak", false},
		{Edited, path, "wrote wheel.go", false},
		{Edited, path, "wrote other_src/wheel.go", false},
		{Edited, path, "wrote src/wheel.go.", true},
		{Edited, path, `changed src\wheel.go`, true},
		{Edited, path, "read src/wheel.go", false},
		{Edited, path, "Named besides: src/wheel.go, src/stone.go", false},
		{Edited, path, "edited: src/stone.go, `a_b.go` (#4), src/wheel.go", true},
		{Edited, path, "### Files changed\n- src/stone.go\n- src/wheel.go", true},
		{Edited, path, "- **src/wheel.go**\n  - Added a spoke", true},
		{Edited, path, " M src/wheel.go", true},
		{Edited, path, "修改了src/wheel.go。", true},
		{Edited, path, "edited the stone, then sat down and read src/wheel.go", false},
		{Deleted, path, "deleted src/wheel.go", true},
		{Deleted, path, "edited src/wheel.go", false},
		{Edited, fact{forms: []string{"a.go"}}, "wrote src/a.go", false},
		{Edited, fact{forms: []string{"a.go"}}, "wrote `a.go`, b.go", true},
		{Identifiers, name, "Turn every wheel by hand with `grindRye()`.", true},
		{Identifiers, name, "Each wheel is to be turned by hand: grindRye.", false},
		{Identifiers, name, "So turn every old wheel, slowly, by hand, with mill.grindRye.", true},
		{Identifiers, name, "Turn every wheel by hand with grindRyeTwice.", false},
		{Identifiers, name, "Turn every wheel by hand. Named besides: grindRye", false},
		{Identifiers, name, "Turn every wheel by hand with that:\nNamed besides: grindRye, mill_stone", false},
		{Identifiers, name, "Named besides: grindRye, mill_stone, FlourBin", false},
		{Identifiers, name, "hand grindRye wheel every turn", false},
		{Identifiers, name, "grindRye", false},
		{Identifiers, short, "- The request for the wheel is open:\n- `grindRye`", true},
		{Identifiers, short, "The request for the wheel is open: [ccd 000000000000 cut]\nNamed besides: grindRye", false},
		{Identifiers, fact{text: "grindRye", spots: []spot{{words: words("把所有的黑麦磨成面粉")}}}, "请用grindRye把所有的黑麦磨成面粉", true},
		{Hashes, fact{text: "1.2.3", spots: name.spots}, "turn every wheel by hand of version 1.2.3.", true},
		{Hashes, fact{text: "1.2.3", spots: name.spots}, "turn every wheel by hand of version 1.2.3.4", false},
		{Numbers, fact{text: "12", spots: name.spots}, "turn every wheel by hand 112 times", false},
		{Numbers, fact{text: "12", spots: name.spots}, "turn every wheel by hand 12.5 times", false},
		{Numbers, fact{text: "12", spots: name.spots}, "turn every wheel by hand 12 times", true},
		{Outcomes, fact{text: "make all", tail: "14 passed"}, "- `make all` -> 0: 14 passed", true},
		{Outcomes, fact{text: "make all", tail: "14 passed"}, "- `make all` -> 0: 114 passed", false},
		{Outcomes, fact{text: "make all", tail: "14 passed"}, "- `make all` -> 0\n" + strings.Repeat("- ls -> 0\n", 60) + "14 passed", false},
		{Questions, fact{text: "Which grain?", tail: "Rye"}, "to \"Which grain?\" (Rye · Oats)\n> Rye", true},
		{Questions, fact{text: "Which grain?", tail: "Rye"}, "Which grain? Oats", false},
		{Questions, fact{text: "Grind rye", status: "refused"}, "plan \"Grind rye\": refused", true},
		{Questions, fact{text: "Grind rye", status: "refused"}, "plan \"Grind rye\": approved", false},
		{Refusals, fact{text: "git push", tail: "Never force it.", status: "refused"}, "Refused `git push` (#8): \"Never force it.\"", true},
		{Refusals, fact{text: "git push", tail: "Never force it.", status: "refused"}, "Refused `git push` (#8)", false},
		{Refusals, fact{text: "git push", status: "refused"}, "Refused `git push` (#8)", true},
		{Refusals, fact{text: "git push", status: "refused"}, "ran `git push` (#8)", false},
		{Git, fact{text: "oats", status: "branch"}, "Git: branch oats, last commit", true},
		{Git, fact{text: "oats", status: "branch"}, "oats are grain", false},
		{Git, fact{text: "9f31c07", tail: "Grind oats"}, "last commit 9f31c07 \"Grind oats\"", true},
		{Git, fact{text: "9f31c07", tail: "Grind oats"}, "last commit 9f31c07", false},
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
			t.Errorf("%s %q in %q: visible %v, want %v", c.class, c.one.text+strings.Join(c.one.forms, " "), lexicon.Head(c.text, 100), got, c.want)
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

// A fact is recoverable only if an ID restores the bytes that it was taken from: the raw item, the item as the agent
// saw it, or its line.
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

// session returns a session with facts of every class.
func session() *log {
	return newLog().human("Grind the rye of https://mill.example/rye by hand, some 40 sacks of it, and keep the stone wheel.").
		say("I decided to keep the stone wheel instead of the steel one. Now I grind.").
		do("TodoWrite", todos("Buy rye", "completed", "Grind it", "pending"), "ok", false).
		bash("make all", "14 tests passed").fails("make rye", "error: no flour in the bin").file("Edit", "/home/me/mill/src/wheel.go").
		bash("rm old.go", "").bash("git commit -am x", "[oats 9f31c07] Grind oats by hand").
		do("Task", map[string]any{"prompt": "count"}, "I counted the sacks twice. Four of them are left.", false).
		do("AskUserQuestion", map[string]any{"questions": []any{map[string]any{"question": "Which of the grains next?"}}},
			`User has answered your questions: "Which of the grains next?"="Only the oats". You can now continue with the user's answers in mind.`, false).
		do("Bash", map[string]any{"command": "git push --force"}, sorry+"Never force a push here.", true).
		say("Every sack is ground with grindRye as of v1.2.3, see `src/wheel.go` there. The oats are still in the barn: ask the miller for them.")
}

// A text without information shows no fact; the plain text of a session shows all of them.
func TestControls(t *testing.T) {
	l := session()
	f, plain := l.facts(), l.plain()
	g := grade(t, f, plain, nil)
	for _, class := range Classes() {
		if n := g.Classes[class]; n.Facts == 0 || n.Visible != n.Facts {
			t.Errorf("the plain text: %s %+v", class, n)
		}
	}
	if g = grade(t, f, "", nil); g.Mean != 0 || g.All.Lost != g.All.Facts {
		t.Errorf("the empty text: mean %.3f, %+v", g.Mean, g.All)
	}
	if g = grade(t, New(), "", nil); g.Mean != 1 {
		t.Errorf("an empty session: %+v, want nothing to miss", g)
	}
	var all []string
	for _, class := range Classes() {
		for _, one := range f.all()[class] {
			if class == Numbers || class == Identifiers || class == URLs || class == Hashes || class == Edited || class == Deleted {
				all = append(all, one.text)
			}
		}
	}
	for _, list := range []string{"\nNamed besides: " + strings.Join(all, ", ") + "\n", "\n- " + strings.Join(all, "\n- ") + "\n"} {
		if g = grade(t, f, list, nil); g.Mean != 0 {
			t.Errorf("a list of all names: mean %.3f, %+v", g.Mean, g.Classes)
		}
		part := lexicon.Head(plain, len(plain)/3)
		if with, without := grade(t, f, part+list, nil).Mean, grade(t, f, part, nil).Mean; with != without {
			t.Errorf("a list of all names adds %.3f to %.3f", with-without, without)
		}
	}
	if g = grade(t, f, shuffled(plain), nil); g.Mean > 0.1 {
		t.Errorf("shuffled words: mean %.3f, %+v", g.Mean, g.Classes)
	}
	other := newLog().human("Paint the barn of https://barn.example/red before the winter, all 70 boards of it.").bash("make paint", "3 pots left").
		file("Edit", "/home/me/mill/barn/door.go").say("The door is painted with paintRed. The roof has to wait for spring.")
	if g = grade(t, f, other.plain(), nil); g.Mean > 0.05 {
		t.Errorf("another session's text: mean %.3f, %+v", g.Mean, g.Classes)
	}
}

// shuffled returns the words of a text, and the characters of a dense script, in another order.
func shuffled(text string) string {
	var b strings.Builder
	for _, r := range text {
		if b.WriteRune(r); dense(r) {
			b.WriteByte(' ')
		}
	}
	words := strings.Fields(b.String())
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(words), func(i, k int) { words[i], words[k] = words[k], words[i] })
	return strings.Join(words, " ")
}

// A long answer does not outweigh a short one: of answers with 100 and 4 sentences, the short one has 2/12 of the
// weight.
func TestAnswersAreWeighed(t *testing.T) {
	var long strings.Builder
	for i := range 100 {
		fmt.Fprintf(&long, "Sack number %d is full. ", i)
	}
	f := newLog().human("Count.").say(long.String()).human("And then?").say("Rye comes first. Oats come second. Barley comes third. Wheat comes last.").facts()
	n := grade(t, f, "Rye comes first. Oats come second. Barley comes third. Wheat comes last.", nil).Classes[Answers]
	if n.Facts != 104 || math.Abs(n.Share()-2.0/12) > 1e-9 {
		t.Errorf("%+v: share %.3f, want 2 of 12", n, n.Share())
	}
}

func FuzzGrade(f *testing.F) {
	f.Add("Grind the rye.", "> Grind the `rye`.\n[ccd 000000000000 range]\n>+ more\n")
	f.Add("```\n", "---\n\n---\n")
	f.Add("https:// 1.2.3 a_b `x`", "…")
	f.Fuzz(func(t *testing.T, said, text string) {
		facts := newLog().human(said).say(said).bash(said, said).fails(said, said).facts()
		grade(t, facts, text, nil)
		g := grade(t, facts, newLog().human(said).say(said).bash(said, said).fails(said, said).plain(), nil)
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
