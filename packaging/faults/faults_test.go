package faults

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	// asked, in the environment, names the size of a run: medium or long.
	asked = "CCD_FAULTS"
	page  = "../../docs/RELIABILITY.md"
	// remotePart is the beginning of what cmd/ccd-remote's TestFaults writes.
	remotePart = "\n## The copy in object storage\n"
)

// size is how much a run tries: whole matrices (CCD_TESTS=full), each round with another CCD_SEED.
type size struct {
	command string
	rounds  int    // of each check that may be repeated
	fuzz    int    // factor of the executions of a fuzz target
	soak    string // CCD_SOAK
}

var sizes = map[string]size{
	"medium": {"make faults", 1, 1, "45s"},
	"long":   {"make faults-long", 10, 200, "30m"},
}

func (c check) fuzz() bool { return strings.HasPrefix(c.name, "Fuzz") }

// result is what came of a check.
type result struct {
	passed, failed, skipped int
	tries                   int
}

func (r result) plus(o result) result {
	return result{r.passed + o.passed, r.failed + o.failed, r.skipped + o.skipped, r.tries + o.tries}
}

// event is a line of `go test -json`.
type event struct{ Action, Test, Output string }

// judge reads what `go test -json` printed of a check.
func (c check) judge(events []event) (r result) {
	var log strings.Builder
	cases, skips := 0, 0 // subtests
	for _, e := range events {
		top, _, part := strings.Cut(e.Test, "/")
		if top != c.name {
			continue
		}
		log.WriteString(e.Output)
		switch {
		case part && e.Action == "skip":
			skips++
		case part && e.Action == "pass":
			cases++
		case e.Action == "pass" && skips > 0 && cases == 0, !part && e.Action == "skip":
			r.skipped++
		case !part && e.Action == "pass":
			r.passed++
		case !part && e.Action == "fail":
			r.failed++
		}
	}
	if r.passed+r.failed+r.skipped == 0 {
		r.failed++ // it did not run
	}
	r.tries = max(1, c.each) * r.passed
	if c.tries != "" && r.passed > 0 {
		r.tries = 0
		for _, m := range regexp.MustCompile(c.tries).FindAllStringSubmatch(log.String(), -1) {
			n, _ := strconv.Atoi(m[1])
			r.tries += n
		}
	}
	return r
}

// goTest runs checks of one package that are repeated equally often. It logs everything if one fails.
func (s size) goTest(t *testing.T, checks []check) map[check]result {
	t.Helper()
	var names []string
	for _, c := range checks {
		names = append(names, c.name)
	}
	all, first := "^("+strings.Join(names, "|")+")$", checks[0]
	args, rounds := []string{"test", "-json", "-timeout", "0", "-count", strconv.Itoa(max(1, first.again)), "-run", all}, s.rounds
	if first.fuzz() {
		args = []string{"test", "-json", "-timeout", "0", "-run", "^$", "-fuzz", all, "-fuzztime", fmt.Sprint(first.each*s.fuzz, "x")}
	}
	if first.fuzz() || first.again == 0 {
		rounds = 1
	}
	results := map[check]result{}
	for seed := range rounds {
		cmd := exec.CommandContext(t.Context(), "go", append(args, "ccd/"+first.pkg)...)
		cmd.Env = append(os.Environ(), asked+"=", "CCD_TESTS=full", fmt.Sprint("CCD_SEED=", seed+1), "CCD_SOAK="+s.soak)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		var events []event
		for line := range bytes.Lines(out) {
			var e event
			if json.Unmarshal(line, &e) == nil {
				events = append(events, e)
			}
		}
		if err != nil {
			t.Errorf("%s %q, seed %d: %v: %s", first.pkg, names, seed+1, err, stderr.String())
			for _, e := range events {
				t.Log(strings.TrimRight(e.Output, "\n"))
			}
		}
		for _, c := range checks {
			r := c.judge(events)
			if c.fuzz() {
				r = c.fuzzed(events, err)
			}
			results[c] = results[c].plus(r)
		}
	}
	return results
}

var executions = regexp.MustCompile(`execs: (\d+)`)

// fuzzed is judge for a fuzz target.
func (c check) fuzzed(events []event, err error) (r result) {
	for _, e := range events {
		if m := executions.FindStringSubmatch(e.Output); m != nil {
			r.tries, _ = strconv.Atoi(m[1])
		}
	}
	if err != nil || r.tries == 0 {
		return result{failed: 1}
	}
	r.passed = 1
	return r
}

// runAll runs all checks, those of one package that are repeated equally often together.
func (s size) runAll(t *testing.T) map[check]result {
	groups := map[string][]check{}
	for _, f := range catalogue {
		for _, c := range slices.Concat(f.checks, f.controls) {
			key := fmt.Sprint(c.pkg, " ", c.again)
			if c.fuzz() {
				key += " " + c.name
			}
			groups[key] = append(groups[key], c)
		}
	}
	results := map[check]result{}
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		for c, r := range s.goTest(t, groups[key]) {
			results[c] = r
			t.Logf("%s %s: %+v", c.pkg, c.name, r)
		}
	}
	return results
}

func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// about is n, rounded down to two digits if it is long, so that two runs of counts that differ a little print the same.
func about(n int) string {
	unit := 1
	for n/unit >= 100 && n >= 1000 {
		unit *= 10
	}
	return grouped(n / unit * unit)
}

// row is a fault without what came of it: the beginning and the end of its row.
func row(f fault) (head, tail string) {
	return fmt.Sprintf("| %s | %s | ", f.what, f.promise), fmt.Sprintf(" | %s |\n", f.not)
}

// cell is what a run adds to the row of a fault: its tests by package, with their tries if there were several, then the controls
// and what did not pass.
func cell(f fault, results map[check]result) (text string) {
	last := ""
	for _, c := range f.checks {
		switch {
		case last == "":
			text = c.pkg + ": "
		case c.pkg == last:
			text += ", "
		default:
			text += "; " + c.pkg + ": "
		}
		last = c.pkg
		text += "`" + c.name + "`"
		if n := results[c].tries; n > 1 {
			text += " " + about(n)
		}
	}
	for _, c := range f.controls {
		text += "; control: `" + c.name + "`"
	}
	for _, c := range slices.Concat(f.checks, f.controls) {
		switch r := results[c]; {
		case r.failed > 0:
			text += "; **failed**: `" + c.name + "`"
		case r.passed == 0:
			text += "; skipped: `" + c.name + "`"
		}
	}
	return text
}

// text is the page of a run. It keeps the part of the page that cmd/ccd-remote writes.
func text(page, command string, cell func(f fault) string) string {
	var b strings.Builder
	b.WriteString("# Reliability\n\nWhich faults ccd survives. `" + command + "` ran the tests, as root on Linux, and wrote this page. A number after a test counts its\n" +
		"tries, rounded down. A control breaks what the tests check, and passes if they notice.\n\n" +
		"| fault | promise | tests | not promised, not tested |\n|---|---|---|---|\n")
	for _, f := range catalogue {
		head, tail := row(f)
		b.WriteString(head + cell(f) + tail)
	}
	_, remote, _ := strings.Cut(page, remotePart)
	return b.String() + remotePart + remote
}

// reworded returns a page with the catalogue's texts and the results of the page. Rows of tests that have changed need a run.
func reworded(page string) string {
	old := map[string]string{}
	for line := range strings.Lines(page) {
		if c := strings.Split(line, " | "); len(c) == 4 {
			old[strings.TrimPrefix(c[0], "| ")] = c[2]
		}
	}
	_, command, _ := strings.Cut(page, "survives. `")
	command, _, _ = strings.Cut(command, "`")
	return text(page, command, func(f fault) string { return old[f.what] })
}

// TestReliability runs everything in the catalogue and writes docs/RELIABILITY.md. CCD_FAULTS=texts keeps the results and
// writes only the texts.
func TestReliability(t *testing.T) {
	s, ok := sizes[os.Getenv(asked)]
	old, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var now string
	switch {
	case ok:
		results := s.runAll(t)
		now = text(string(old), s.command, func(f fault) string { return cell(f, results) })
	case os.Getenv(asked) == "texts":
		now = reworded(string(old))
	default:
		t.Skipf("%s is none of medium, long and texts: this is `make faults`", asked)
	}
	if err := os.WriteFile(page, []byte(now), 0o644); err != nil {
		t.Fatal(err)
	}
}

// absent returns the checks that are not in the tree.
func absent(t *testing.T, faults []fault) (missing []string) {
	t.Helper()
	for _, f := range faults {
		for _, c := range slices.Concat(f.checks, f.controls) {
			files, _ := filepath.Glob(filepath.Join("../..", c.pkg, "*_test.go"))
			if !slices.ContainsFunc(files, func(file string) bool {
				text, err := os.ReadFile(file)
				return err == nil && bytes.Contains(text, []byte("\nfunc "+c.name+"("))
			}) {
				missing = append(missing, c.pkg+" "+c.name)
			}
		}
	}
	return missing
}

// TestCatalogue: the tests of the catalogue exist, no test has two counts, and docs/RELIABILITY.md has its rows.
func TestCatalogue(t *testing.T) {
	for _, m := range absent(t, catalogue) {
		t.Error("there is no " + m)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != reworded(string(text)) {
		t.Error("docs/RELIABILITY.md is stale, run: make faults, or, if only texts have changed, CCD_FAULTS=texts go test ./packaging/faults")
	}
	seen := map[string]bool{}
	for _, f := range catalogue {
		head, _ := row(f)
		_, line, _ := strings.Cut(string(text), head)
		line, _, _ = strings.Cut(line, "\n")
		for _, c := range slices.Concat(f.checks, f.controls) {
			if !strings.Contains(line, "`"+c.name+"`") {
				t.Errorf("docs/RELIABILITY.md has no result of %s, run: make faults", c.name)
			}
			if at := c.pkg + " " + c.name; seen[at] {
				t.Errorf("%s is in two rows", at)
			} else {
				seen[at] = true
			}
		}
	}
	control := []fault{{checks: []check{{pkg: "archive", name: "TestOfNothing"}, {pkg: "archive", name: "TestPowerCut"}}}}
	if got := absent(t, control); !slices.Equal(got, []string{"archive TestOfNothing"}) {
		t.Errorf("the control: %q", got)
	}
}

// TestJudge: a failure, a skip and a test that did not run are not taken for a pass.
func TestJudge(t *testing.T) {
	c := check{pkg: "p", name: "TestA", tries: `(\d+) kills`}
	out := event{Action: "output", Test: "TestA", Output: "a_test.go:1: 12 kills, none lost\n"}
	for _, tt := range []struct {
		what   string
		events []event
		want   result
	}{
		{"twice", []event{out, {Action: "pass", Test: "TestA"}, out, {Action: "pass", Test: "TestA"}}, result{passed: 2, tries: 24}},
		{"failed", []event{out, {Action: "fail", Test: "TestA"}}, result{failed: 1}},
		{"skipped", []event{{Action: "skip", Test: "TestA"}}, result{skipped: 1}},
		{"all cases skipped", []event{{Action: "skip", Test: "TestA/x"}, {Action: "pass", Test: "TestA"}}, result{skipped: 1}},
		{"another", []event{{Action: "pass", Test: "TestAB"}}, result{failed: 1}},
	} {
		if got := c.judge(tt.events); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.what, got, tt.want)
		}
	}
	f := fault{checks: []check{c}, controls: []check{{pkg: "p", name: "TestB"}}}
	for want, results := range map[string]map[check]result{
		"":                      {c: {passed: 1}, f.controls[0]: {passed: 1}},
		"; **failed**: `TestB`": {c: {passed: 1}, f.controls[0]: {failed: 1}},
		"; skipped: `TestB`":    {c: {passed: 1}, f.controls[0]: {skipped: 1}},
		"; **failed**: `TestA`; **failed**: `TestB`": {c: {failed: 1}, f.controls[0]: {failed: 1}},
	} {
		if got := cell(f, results); got != "p: `TestA`; control: `TestB`"+want {
			t.Errorf("%q, want it to end with %q", got, want)
		}
	}
}
