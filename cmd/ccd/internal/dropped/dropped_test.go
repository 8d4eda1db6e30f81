package dropped

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// workday is a session in which every class has a fact that told keeps and one that it drops.
func workday() *log {
	l := &log{agent: "claude-code"}
	l.human("Mill the rye at 40 rpm and never touch the oats.")
	l.say("The rye is milled at 40 rpm.")
	l.human("Now weigh every sack of barley before noon.")
	for _, name := range []string{"src/wheel.go", "src/stone.go"} {
		l.do("Edit", map[string]any{"file_path": "/home/me/mill/" + name, "old_string": "a", "new_string": "b"}, "The file has been updated.", false)
	}
	l.run("go vet ./wheel", "", 0)
	l.run("go test ./stone", "ok  \tmill/stone\t0.1s", 0)
	l.run("make wheel", "wheel.go:7: error: the wheel is stuck", 2)
	l.run("make sieve", "fatal: no water in the race", 1)
	l.do("AskUserQuestion", map[string]any{"questions": []any{map[string]any{"question": "Which stone is used for the grain?"}}}, "User has answered your questions: \"Which stone is used for the grain?\"=\"granite\"", false)
	l.run("git commit -m 'Mend the race of the mill'", "[main 9f31c07] Mend the race of the mill\n 1 file changed", 0)
	l.run("git commit -m 'Grease the axle'", "[main 77ab12c] Grease the axle\n 1 file changed", 0)
	return l
}

const told = `Summary: The user wrote: mill the rye at 40 rpm and never touch the oats. The rye is milled at 40 rpm.
- edited src/wheel.go
- ran go vet ./wheel
- make wheel fails: the wheel is stuck
- committed 9f31c07d2`

func TestEachClass(t *testing.T) {
	l := workday()
	l.compact(told)
	l.say("On with src/stone.go.")
	r := l.report(t, Choice{Told: "ran go test ./stone, git commit -m 'Grease the axle', #3-#10 edits\n> src/stone.go #10\n#3 \"read #10\"\nexit 1: #15\n"})
	for class, want := range map[Class][]string{
		Asked:    {"Now weigh every sack of barley before noon."},
		Files:    {"src/stone.go"},
		Checks:   {"go test ./stone = exit 0"},
		Failures: {"make sieve = exit 1"},
		Commits:  {"77ab12c Grease the axle"},
	} {
		if diff := cmp.Diff(want, texts(r, class)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", class, diff)
		}
	}
	if got := texts(r, Decisions); len(got) != 1 || !strings.Contains(got[0], "granite") || !strings.HasSuffix(got[0], "= answered") {
		t.Errorf("decisions: %q", got)
	}
	if r.Facts != r.Kept+r.Dropped || r.Kept != 5 || r.Dropped != 6 || r.InTold != 2 || r.Trigger != "auto" || r.Tokens != 155000 || r.Summary == "" {
		t.Errorf("%+v", r)
	}
	lines := map[int]int{}
	ids := map[string]bool{}
	for rec := range l.records() {
		for i := range rec.Items {
			ids[string(rec.Items[i].Sum().ID())] = rec.N < r.Record
		}
	}
	for _, c := range r.Classes {
		for _, one := range c.List {
			if one.InTold {
				lines[one.Record] = one.Line
			}
			if !ids[string(one.ID)] || one.Record >= r.Record {
				t.Errorf("%s %q: #%d %s is no original from before the compaction", c.Class, one.Text, one.Record, one.ID)
			}
		}
	}
	if diff := cmp.Diff(map[int]int{3: 3, 14: 4}, lines); diff != "" {
		t.Errorf("records and the lines that tell them (-want +got):\n%s", diff)
	}
}

// A summary that says nothing keeps nothing but what is preserved.
func TestPreserved(t *testing.T) {
	l := workday()
	l.compact("The mill is closed.")
	none := l.report(t, Choice{})
	l.lines = l.lines[:len(l.lines)-2]
	l.compact("The mill is closed.", "u-1", "u-3")
	if r := l.report(t, Choice{}); none.Kept != 0 || r.Kept != 2 || r.Preserved != 2 || r.Facts != none.Facts {
		t.Errorf("kept %d, then %d of %d, %d preserved", none.Kept, r.Kept, r.Facts, r.Preserved)
	}
}

func TestSeveral(t *testing.T) {
	l := workday()
	l.compact(told)
	l.human("Now the barley pot with its wooden cover.")
	l.human("Then put it on the table beside the window.")
	l.compact("Only the oats are left.")
	last, first := l.report(t, Choice{}), l.report(t, Choice{Boundary: 1})
	if last.Boundary != 2 || last.Boundaries != 2 || last.Facts != 2 || last.Dropped != 2 {
		t.Errorf("the last: %+v", last)
	}
	if first.Boundary != 1 || first.Boundaries != 2 || first.Dropped != 6 {
		t.Errorf("the first: %+v", first)
	}
	if _, err := l.of(Choice{Boundary: 3}); !isNone(err) {
		t.Errorf("compaction 3 of 2: %v", err)
	}
}

func TestNone(t *testing.T) {
	copied := &log{agent: "claude-code"}
	copied.claude("user", map[string]any{"isCompactSummary": true}, "This session is being continued. ccd wrote this.")
	copied.say("On.")
	for name, l := range map[string]*log{"never compacted": workday(), "begins with a summary": copied, "empty": {agent: "claude-code"}} {
		_, err := l.of(Choice{})
		var none *NoneError
		if !errors.As(err, &none) || none.Compactions != 0 || (none.Summary > 0) != (l == copied) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Codex writes the new context into the boundary: a message in it is kept, an encrypted part is not compared.
func TestCodex(t *testing.T) {
	l := &log{agent: "codex"}
	l.human("Mill the rye at 40 rpm and never touch the oats.")
	l.human("Now weigh every sack of barley before noon.")
	l.run("make sieve", "fatal: no water in the race", 1)
	l.say("The sieve is broken and needs a new frame of oak.")
	l.replace("", message("user", "Now weigh every sack of barley before noon."), map[string]any{"type": "compaction", "encrypted_content": "abc"})
	r := l.report(t, Choice{})
	if diff := cmp.Diff([]string{"Mill the rye at 40 rpm and never touch the oats."}, texts(r, Asked)); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	if !r.Sealed || r.Preserved != 1 || len(texts(r, Failures)) != 1 {
		t.Errorf("%+v", r)
	}
}

func TestLists(t *testing.T) {
	l := workday()
	l.compact("The mill is closed.")
	r := l.report(t, Choice{Class: Files, Most: 1})
	for _, c := range r.Classes {
		want := 0
		if c.Class == Files {
			want = 1
		}
		if len(c.List) != want || c.More != c.Dropped-want {
			t.Errorf("%s: %d listed, %d more", c.Class, len(c.List), c.More)
		}
	}
}

// A name is a whole word; a sentence is said with most of its words; the first words of a text quote it.
func TestShows(t *testing.T) {
	text := NewText("Changed `wheel.go` and\nthe stone. The race of the mill was mended on Monday. 石を磨く。")
	for name, want := range map[string]bool{"wheel.go": true, "heel.go": false, "wheel.g": false, "stone": true} {
		if got := text.Shows(&Fact{Class: Files, name: name}); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
	for said, want := range map[string]bool{
		"The mill's race was mended.": true, "Changed wheel.go and\nthe race:\nlog of the race": true, "The race was lost by the hare.": false, "石を磨く": true, "the stone": true, "a stone": false,
	} {
		if got := text.Shows(&Fact{Class: Asked, said: said}); got != want {
			t.Errorf("%q: %v, want %v", said, got, want)
		}
	}
	if NewText("").Shows(&Fact{Class: Asked, said: "x"}) {
		t.Error("an empty text shows something")
	}
}
