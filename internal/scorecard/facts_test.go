package scorecard

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ccd/internal/transcript"
)

func TestFacts(t *testing.T) {
	long := strings.Repeat("The wheel turns and the flour falls. ", 80)
	for _, c := range []struct {
		name  string
		log   *log
		class Class
		want  []string
	}{
		{"a message stands whole, once", newLog().human("Grind\n the  rye.").human("Grind the rye."), Asked, []string{"Grind the rye."}},
		{"a long one has ends", newLog().human("BEGIN " + long + "END"), Asked, []string{head("BEGIN "+normal(long), 200) + " … " + tail(normal(long)+" END", 100)}},
		{"what a machine writes is no message", newLog().human("<system-reminder>Be brief.</system-reminder>"), Asked, nil},
		{"paths are below the working directory", newLog().file("Write", "/home/me/mill/src/wheel.go").file("Edit", "/home/me/mill/src/wheel.go"), Edited, []string{"src/wheel.go"}},
		{"a path elsewhere keeps its directory", newLog().file("Write", "/etc/mill/mill.conf"), Edited, []string{"mill/mill.conf"}},
		{"a change outweighs a read", newLog().file("Read", "/home/me/mill/a.go").file("Edit", "/home/me/mill/a.go").file("Read", "/home/me/mill/a.go"), Read, nil},
		{"a read is a read", newLog().file("Read", "/home/me/mill/a.go"), Read, []string{"a.go"}},
		{"what failed changed nothing", newLog().do("Edit", map[string]any{"file_path": "/home/me/mill/a.go"}, "String to replace not found", true), Edited, nil},
		{"rm deletes", newLog().file("Write", "/home/me/mill/a.go").bash("rm -f a.go && ls", ""), Deleted, []string{"a.go"}},
		{"rm that failed does not", newLog().file("Write", "/home/me/mill/a.go").fails("rm a.go", "no such file"), Deleted, nil},
		{"rm of what is not named is not certain", newLog().bash("rm $FILES", "").bash("rm *.go", "").bash("cd $DIR && rm a.go", ""), Deleted, nil},
		{"rm elsewhere counts there", newLog().bash("cd /tmp/x && rm a.go", ""), Deleted, []string{"x/a.go"}},
		{"commands have their last status", newLog().bash("make  all", "ok").fails("make all", "error: no flour"), Commands, []string{"make all = 1"}},
		{"error lines, once", newLog().fails("make", "grinding\nerror: no flour\nerror: no flour\nwarming up"), Errors, []string{"error: no flour"}},
		{"an output that is no failure has none", newLog().bash("make", "error: no flour"), Errors, nil},
		{"an error is open", newLog().fails("make", "error: no flour").bash("make other", "ok"), OpenErrors, []string{"error: no flour"}},
		{"until the command succeeds", newLog().fails("make", "error: no flour").bash("make", "ok"), OpenErrors, nil},
		{"one without an error line is its command", newLog().fails("make", "grinding"), OpenErrors, []string{"make = 1"}},
		{"a silent one is an answer", newLog().fails("grep -q rye list", ""), OpenErrors, nil},
		{"decisions", newLog().say("I looked. I decided to grind rye instead of wheat.\n```\nchoose this line of code, it is better to\n```\n## We go with rye and with oats"), Decisions, []string{"I decided to grind rye instead of wheat."}},
		{"numbers have units", newLog().say("It takes 12.5 ms, 3 files and 40 % of 7."), Numbers, []string{"12.5 ms", "3 files", "40 %"}},
		{"identifiers", newLog().say("Use grindRye, mill_stone, FlourBin, os.Stat and `rye -x`, e.g. here. See `turn()`."), Identifiers, []string{"grindRye", "mill_stone", "FlourBin", "os.Stat", "rye -x", "turn"}},
		{"addresses", newLog().human("See https://mill.example/rye?x=1, please."), URLs, []string{"https://mill.example/rye?x=1"}},
		{"hashes and versions", newLog().say("Commit 9f31c07 is in v1.4 and in 2.0.1-rc.1, not in deadbeef or 1234567."), Hashes, []string{"9f31c07", "v1.4", "2.0.1-rc.1"}},
		{"what tools print names nothing", newLog().bash("cat", "See https://mill.example and grindRye"), URLs, nil},
		{"the plan as last left", newLog().
			do("TodoWrite", todos("Buy rye", "pending", "Grind it", "pending"), "ok", false).
			do("TodoWrite", todos("Buy rye", "completed", "Grind it", "in_progress"), "ok", false), Plan, []string{"Buy rye = completed", "Grind it = in_progress"}},
		{"the last answer", newLog().say("First words.").say("Last words."), Answer, []string{"Last words."}},
		{"constraints", newLog().human("Grind it. The old stone must never be used for rye again."), Constraints, []string{"The old stone must never be used for rye again."}},
		{"reports", newLog().do("Task", map[string]any{"prompt": "count"}, strings.Repeat("Four sacks are left. ", 8), false), Reports, []string{strings.TrimSpace(strings.Repeat("Four sacks are left. ", 8))}},
		{"totals", newLog().bash("go test ./...", strings.Repeat("=== a step\n", 120)+"ok mill 0.2s, 14 tests passed\n"), Totals, []string{"ok mill 0.2s, 14 tests passed"}},
		{"hits", newLog().do("Grep", map[string]any{"pattern": "rye"}, strings.Repeat("src/wheel.go:14: rye\n", 60), false), Hits, []string{"src/wheel.go:14"}},
		{"contents", newLog().do("Read", map[string]any{"file_path": "/home/me/mill/a.go"}, numbered(60), false), Contents, []string{"/home/me/mill/a.go … " + head(normal(strings.Repeat("grind the rye by hand\n", 60)), 120) + " = 60"}},
		{"code", newLog().say("Like so:\n```go\nfunc grind() {}\n```\nand on."), Code, []string{"func grind() {}"}},
	} {
		if got := c.log.of(c.class); !slices.Equal(got, c.want) {
			t.Errorf("%s: %s\ngot  %q\nwant %q", c.name, c.class, got, c.want)
		}
	}
}

func todos(pairs ...string) map[string]any {
	var all []any
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, map[string]any{"content": pairs[i], "status": pairs[i+1], "activeForm": "x"})
	}
	return map[string]any{"todos": all}
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%6d\tgrind the rye by hand\n", i+1)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func TestStrongFacts(t *testing.T) {
	l := newLog().say("Use grindRye and millStone. It is grindRye.").human("What of flourBin?").say("Nothing.")
	strong := map[string]bool{}
	for _, one := range l.facts().all()[Identifiers] {
		strong[one.text] = one.strong
	}
	if !strong["grindRye"] || strong["millStone"] || !strong["flourBin"] {
		t.Errorf("strong: %v, want what was named twice or by the human", strong)
	}
}

// What an inline sub-agent said or did is not the session's own.
func TestSideItemsAreNoFacts(t *testing.T) {
	l := newLog().human("Grind.")
	l.add("assistant", []any{map[string]any{"type": "text", "text": "Use grindRye."}}, map[string]any{"isSidechain": true})
	if got := l.of(Identifiers); len(got) > 0 {
		t.Errorf("got %q", got)
	}
}

// However long the session, what is kept of a class has a limit, and a call without a result is not waited for in vain.
func TestFactsAreBounded(t *testing.T) {
	f := New()
	item := transcript.Item{Kind: transcript.Call, Tool: "Read", Raw: []byte(`{"file_path":"/a"}`)}
	for i := range maxCalls + 100 {
		item.Call = strconv.Itoa(i)
		f.called(&item, item.Raw)
	}
	if len(f.calls) > maxCalls {
		t.Errorf("%d calls wait", len(f.calls))
	}
	for i := range maxFacts + 100 {
		f.note(Numbers, strconv.Itoa(i), fact{text: strconv.Itoa(i)})
	}
	if n := len(f.classes[Numbers].all); n != maxFacts {
		t.Errorf("%d facts of a class, want %d", n, maxFacts)
	}
	one := f.note(Numbers, "7", fact{})
	for range 100 {
		f.note(Numbers, "7", fact{})
	}
	if len(one.sources) > maxSources {
		t.Errorf("%d sources of a fact", len(one.sources))
	}
}
