package dropped

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ccd/internal/scorecard"
	"ccd/internal/transcript"
)

// workday is a session in which every class has a fact that the summary keeps and one that it drops.
func workday() *log {
	l := &log{agent: "claude-code"}
	l.human("Mill the rye at 40 rpm, see https://mill.example/rye; never touch `grindOats`.")
	l.human("And tell `sieveFlour` from v1.2.3 when it is 25 kg, see https://mill.example/sieve.")
	edit := map[string]any{"old_string": "a", "new_string": "b"}
	for _, name := range []string{"src/wheel.go", "src/stone.go"} {
		edit["file_path"] = "/home/me/mill/" + name
		l.do("Edit", edit, "The file has been updated.", false)
	}
	for _, name := range []string{"docs/plan.md", "docs/rye.md"} {
		l.do("Read", map[string]any{"file_path": "/home/me/mill/" + name}, "1\tgrain", false)
	}
	l.run("rm old.txt", "", 0)
	l.run("rm older.txt", "", 0)
	l.run("make \"sacks\" all", "", 0)
	l.run("make lint", "", 0)
	l.run("make test", "wheel.go:7: error: the wheel is stuck\nstone.go:9: error: the stone is cracked", 2)
	l.run("make wheel", "fatal: no water in the race", 1)
	l.say("I decided to use a stone wheel instead of the steel one. The root cause is the dry race of 9f31c07a1 there.\nSee 77ab12c9 and v1.2.3 too.")
	l.do("TodoWrite", map[string]any{"todos": []any{
		map[string]any{"content": "Mend the race", "status": "in_progress"},
		map[string]any{"content": "Weigh the sacks", "status": "pending"},
	}}, "ok", false)
	l.say("The race is dry and the mill stands still until the water comes.")
	return l
}

const told = `Summary: The user wrote: Mill the rye at 40 rpm, see https://mill.example/rye; never touch ` + "`grindOats`" + `.
- edited src/wheel.go, read docs/plan.md, deleted old.txt
- ran make lint (exit 0); make test -> 2: wheel.go:7: error: the wheel is stuck
- I decided to use a stone wheel instead of the steel one. 9f31c07a1
- [ ] Weigh the sacks`

func TestEachClass(t *testing.T) {
	l := workday()
	l.compact(told)
	l.say("Going on with whatWasNotThereBefore.")
	r := l.report(t, Choice{})
	for class, want := range map[string][]string{
		"asked":       {"And tell sieveFlour from v1.2.3 when it is 25 kg, see https://mill.example/sieve."},
		"edited":      {"src/stone.go"},
		"deleted":     {"older.txt"},
		"commands":    {"make wheel = 1", `make "sacks" all = 0`, "rm older.txt = 0", "rm old.txt = 0"},
		"errors":      {"fatal: no water in the race"},
		"open_errors": {"fatal: no water in the race"},
		"decisions":   {"The root cause is the dry race of 9f31c07a1 there."},
		"numbers":     {"25"},
		"identifiers": {"sieveFlour"},
		"urls":        {"https://mill.example/sieve"},
		"hashes":      {"v1.2.3", "9f31c07a1", "77ab12c9"},
		"plan":        {"Mend the race = in_progress"},
		"answers":     {"The race is dry and the mill stands still until the water comes."},
	} {
		if diff := cmp.Diff(want, texts(r, class)); diff != "" {
			t.Errorf("%s: %s", class, diff)
		}
	}
	if r.Boundary != 1 || r.Boundaries != 1 || r.Trigger != "auto" || r.Tokens != 155000 || r.Time == nil || r.Summary == "" {
		t.Errorf("told of the compaction: %+v", r)
	}
	check(t, "", l.records, r)
}

// The law's own control: a wrong ID, a wrong record and a fact that was never said are found.
func TestTheLawFindsWhatIsWrong(t *testing.T) {
	holds := map[place]string{{3, "aaaaaaaaaaaa"}: "grind the rye", {4, "bbbbbbbbbbbb"}: "grind the oats in src/wheel.go"}
	good := scorecard.Fact{Text: "the rye", Record: 3, ID: "aaaaaaaaaaaa", Output: "bbbbbbbbbbbb"}
	if fault := misplaced(scorecard.Asked, good, holds); fault != "" {
		t.Errorf("a good fact: %s", fault)
	}
	for name, change := range map[string]func(*scorecard.Fact){
		"another original": func(f *scorecard.Fact) { f.ID = "bbbbbbbbbbbb" },
		"no original":      func(f *scorecard.Fact) { f.ID = "cccccccccccc" },
		"another record":   func(f *scorecard.Fact) { f.Record = 4 },
		"behind":           func(f *scorecard.Fact) { f.Record = 9 },
		"never said":       func(f *scorecard.Fact) { f.Text = "the barley" },
		"nothing":          func(f *scorecard.Fact) { f.Text = "" },
		"another end":      func(f *scorecard.Fact) { f.Tail = "the barley" },
		"no output":        func(f *scorecard.Fact) { f.Output = "cccccccccccc" },
	} {
		one := good
		if change(&one); misplaced(scorecard.Asked, one, holds) == "" {
			t.Errorf("%s was not found", name)
		}
	}
}

// A summary that says everything drops nothing, an empty one all that is not preserved.
func TestAllAndNothing(t *testing.T) {
	l := workday()
	var whole strings.Builder
	for r, err := range l.records() {
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range r.Items {
			whole.WriteString(strings.ReplaceAll(heldBy(&it), "\x00", "\n") + "\n")
		}
	}
	rest := "make \"sacks\" all -> 0\nmake lint -> 0\nrm old.txt -> 0\nrm older.txt -> 0\nmake wheel -> 1\nmake test -> 2\n- [>] Mend the race\n- [ ] Weigh the sacks\n"
	l.compact(whole.String() + rest)
	if r := l.report(t, Choice{}); r.Dropped != 0 || r.Facts == 0 {
		t.Errorf("a summary that says everything: %d of %d dropped: %+v", r.Dropped, r.Facts, r.Classes)
	}
	l = workday()
	l.compact("The mill is closed.")
	r := l.report(t, Choice{})
	if r.Kept != 0 || r.Dropped == 0 {
		t.Errorf("a summary that says nothing keeps %d of %d: %+v", r.Kept, r.Facts, r.Classes)
	}
	check(t, "", l.records, r)
}

// What is preserved is held, word for word and by its place, also what a preserved result only shows.
func TestPreserved(t *testing.T) {
	l := workday()
	call, answer := l.do("Bash", map[string]any{"command": "make flour"}, "sieveFlour says 25 kg\n", false)
	last := l.say("The flour is fine, says the sievedTwice test.")
	l.compact(told, call, answer, last)
	r := l.report(t, Choice{})
	for class, not := range map[string]string{"commands": "make flour = 0", "identifiers": "sievedTwice", "answers": "The flour is fine, says the sievedTwice test."} {
		for _, text := range texts(r, class) {
			if text == not {
				t.Errorf("%s %q is preserved, and listed", class, text)
			}
		}
	}
	if r.Preserved != 3 {
		t.Errorf("%d records preserved, want 3", r.Preserved)
	}
	check(t, "", l.records, r)
	l.lines = l.lines[:len(l.lines)-2]
	l.compact(told)
	if got := texts(l.report(t, Choice{}), "commands"); len(got) == 0 || got[0] != "make flour = 0" {
		t.Errorf("not preserved, but not listed either: %q", got)
	}
}

// What the client puts beside the summary is held; what a hook puts there is not the agent's.
func TestBesideTheSummary(t *testing.T) {
	for kind, want := range map[string]int{"file": 1, "hook_additional_context": 2} {
		l := workday()
		l.compact(told)
		l.claude("attachment", map[string]any{"attachment": map[string]any{"type": kind, "content": "docs/rye.md"}, "rendered": []any{
			map[string]any{"role": "user", "content": "And tell sieveFlour from v1.2.3 when the sack is full."},
		}}, nil)
		l.say("On. src/stone.go")
		r := l.report(t, Choice{})
		if got := len(texts(r, "identifiers")); got != want-1 {
			t.Errorf("%s: %d listed, want %d", kind, got, want-1)
		}
		if got := texts(r, "edited"); len(got) != 1 {
			t.Errorf("what is said later counts: %q", got)
		}
	}
}

func TestSeveral(t *testing.T) {
	l := workday()
	l.compact(told)
	l.say("Now comes `barleyPot` with its wooden cover.")
	l.compact("Only grindOats is left.")
	l.say("Well then.")
	last := l.report(t, Choice{})
	if last.Boundary != 2 || last.Boundaries != 2 {
		t.Errorf("compaction %d of %d, want 2 of 2", last.Boundary, last.Boundaries)
	}
	if diff := cmp.Diff([]string{"src/wheel.go"}, texts(last, "edited")); diff != "" {
		t.Errorf("edited, held by the first summary only: %s", diff)
	}
	if diff := cmp.Diff([]string{"grindOats", "barleyPot"}, texts(last, "identifiers")); diff != "" {
		t.Errorf("identifiers: %s", diff)
	}
	check(t, "", l.records, last)
	first := l.report(t, Choice{Boundary: 1})
	if first.Boundary != 1 || first.Boundaries != 2 || first.Earlier != 0 || last.Earlier != first.Dropped {
		t.Errorf("the first dropped %d, the second was told of %d: %+v", first.Dropped, last.Earlier, first)
	}
	if _, err := Of(l.records, Choice{Boundary: 3}); !isNone(err) || !strings.Contains(err.Error(), "2 in 32 records") {
		t.Errorf("compaction 3 of 2: %v", err)
	}
}

func TestNone(t *testing.T) {
	plain := workday()
	micro := workday()
	micro.claude("system", map[string]any{"subtype": "microcompact_boundary", "content": "Context microcompacted"}, nil)
	micro.say("On.")
	copied := &log{agent: "claude-code"}
	copied.claude("user", map[string]any{"isCompactSummary": true}, "This session is being continued. ccd wrote this.")
	copied.say("On.")
	side := workday()
	side.claude("system", map[string]any{"subtype": "compact_boundary", "isSidechain": true}, nil)
	side.claude("user", map[string]any{"isSidechain": true, "isCompactSummary": true}, "A sub-agent's summary.")
	for name, l := range map[string]*log{
		"never compacted": plain, "microcompact": micro, "begins with a summary": copied, "a sub-agent's": side, "empty": {agent: "claude-code"},
	} {
		r, err := Of(l.records, Choice{})
		var none *NoneError
		if !errors.As(err, &none) {
			t.Errorf("%s: %+v, %v", name, r, err)
		} else if want := map[string]int{"begins with a summary": 1}[name]; none.Summary != want {
			t.Errorf("%s: it is said to begin with a summary in record %d, want %d", name, none.Summary, want)
		}
	}
	copied.compact("Nothing.")
	if r, err := Of(copied.records, Choice{}); err != nil || r.Boundary != 1 || r.Boundaries != 1 {
		t.Errorf("what begins with a summary and is compacted: %+v, %v", r, err)
	}
}

// Older versions wrote no boundary.
func TestSummaryAlone(t *testing.T) {
	l := workday()
	l.claude("user", map[string]any{"isCompactSummary": true}, told)
	l.say("On.")
	r := l.report(t, Choice{})
	if got := texts(r, "edited"); len(got) != 1 || got[0] != "src/stone.go" || r.Trigger != "" {
		t.Errorf("edited %q, %+v", got, r)
	}
	check(t, "", l.records, r)
}

func rollout() *log {
	l := &log{agent: "codex"}
	l.codex("session_meta", map[string]any{"id": "x", "cwd": "/home/me/mill"})
	l.human("Mill the rye with `sieveFlour`.")
	l.run("make test", "error: the wheel is stuck", 2)
	l.run("cat docs/rye.md", "rye", 0)
	l.say("I decided to use a stone wheel instead of the steel one, as barleyPot says.")
	return l
}

const prefix = "Another language model started to solve this problem and produced a summary of its thinking process.\n"

func TestCodex(t *testing.T) {
	kept := message("user", "Mill the rye with `sieveFlour`.")
	summary := prefix + "make test -> 2, barleyPot"
	for name, c := range map[string]struct {
		add                      func(*log)
		asked, commands, summary int
		sealed                   bool
	}{
		"message and history": {func(l *log) { l.replace(summary, kept, message("user", summary)) }, 0, 1, 1, false},
		"history only":        {func(l *log) { l.replace("", kept, message("user", summary)) }, 0, 1, 1, false},
		"message only":        {func(l *log) { l.replace(summary) }, 1, 1, 1, false},
		"history without it":  {func(l *log) { l.replace("", message("user", summary)) }, 1, 1, 1, false},
		"encrypted":           {func(l *log) { l.replace("", kept, map[string]any{"type": "compaction", "encrypted_content": "Zm9v"}) }, 0, 2, 0, true},
		"nothing at all":      {func(l *log) { l.replace("") }, 1, 2, 0, false},
		"its answer flagged": {func(l *log) {
			m := message("assistant", "make test -> 2, barleyPot")
			l.line(map[string]any{"type": "response_item", "payload": m, "metadata": map[string]any{"compaction_output": true}})
			l.codex("event_msg", map[string]any{"type": "token_count"})
			l.replace(summary, kept, message("user", summary))
		}, 0, 1, 1, false},
		"its answer not flagged": {func(l *log) {
			l.say("make test -> 2, barleyPot")
			l.replace(summary, kept, message("user", summary))
		}, 0, 1, 1, false},
	} {
		l := rollout()
		c.add(l)
		l.say("On.")
		r := l.report(t, Choice{})
		if got := len(texts(r, "asked")); got != c.asked {
			t.Errorf("%s: %d messages dropped, want %d", name, got, c.asked)
		}
		if got := texts(r, "commands"); len(got) != c.commands {
			t.Errorf("%s: commands %q dropped, want %d", name, got, c.commands)
		}
		if (r.Summary != "") != (c.summary == 1) || r.Sealed != c.sealed || r.Boundaries != 1 {
			t.Errorf("%s: %+v", name, r)
		}
		if got := texts(r, "answers"); len(got) != 1 || !strings.Contains(got[0], "stone wheel") {
			t.Errorf("%s: the last answer was %q", name, got)
		}
		check(t, "", l.records, r)
	}
}

func TestLists(t *testing.T) {
	l := &log{agent: "claude-code"}
	l.human("Begin the work today with grindRye.")
	for i := range 26 {
		l.say(fmt.Sprintf("Word number is nameOf%c%c here.", 'A'+i, 'a'+i))
	}
	l.say("Once more comes nameOfCc here.")
	l.compact("Nothing.")
	r := l.report(t, Choice{Most: 3})
	if diff := cmp.Diff([]string{"nameOfCc", "grindRye", "nameOfZz"}, texts(r, "identifiers")); diff != "" {
		t.Errorf("a name that came twice, one that a person used, then the newest: %s", diff)
	}
	one := l.report(t, Choice{Class: scorecard.Asked})
	for _, c := range one.Classes {
		if (c.Class == scorecard.Asked) != (len(c.List) > 0) || c.Dropped != len(c.List)+c.More {
			t.Errorf("only asked: %+v", c)
		}
	}
	if one.Dropped != r.Dropped {
		t.Errorf("counts depend on what is listed: %d and %d", one.Dropped, r.Dropped)
	}
}

func TestErrorsEndIt(t *testing.T) {
	broken := errors.New("broken")
	l := workday()
	l.compact(told)
	for _, at := range []int{1, 2} {
		pass := 0
		_, err := Of(func() iter.Seq2[*transcript.Record, error] {
			pass++
			if pass < at {
				return l.records()
			}
			return func(yield func(*transcript.Record, error) bool) { yield(nil, broken) }
		}, Choice{})
		if !errors.Is(err, broken) {
			t.Errorf("pass %d: %v", at, err)
		}
	}
}
