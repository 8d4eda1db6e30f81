package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ccd/cmd/ccd/internal/form"
	"ccd/internal/testkit"
)

// goldenCase is one recorded case of the public pipeline engine.
type goldenCase struct {
	Name      string                       `json:"name"`
	Messages  []map[string]json.RawMessage `json:"messages"`
	Options   map[string]json.RawMessage   `json:"options"`
	Decisions []goldenDecision             `json:"decisions"`
	Window    *int                         `json:"recencyWindow"` // that fits the budget
	Error     string                       `json:"error"`
}

type goldenDecision struct {
	Index  int    `json:"messageIndex"`
	Action string `json:"action"`
	Reason string `json:"reason"`
	In     int    `json:"inputChars"`
	Out    int    `json:"outputChars"`
}

// text returns the content of a message, or "" if it is no string.
func (g *goldenCase) text(i int) string {
	var s string
	if json.Unmarshal(g.Messages[i]["content"], &s) != nil {
		return ""
	}
	return s
}

// goldens reads every case in $CCD_GOLDENS, or skips the test.
func goldens(t *testing.T) (all []goldenCase) {
	t.Helper()
	dir := os.Getenv("CCD_GOLDENS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "goldens")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Skipf("no goldens in %s: set CCD_GOLDENS to the directory that holds them", dir)
	}
	for _, name := range files {
		data := read(t, name)
		lines := bufio.NewScanner(bytes.NewReader(data))
		lines.Buffer(nil, len(data)+1)
		for lines.Scan() {
			var g goldenCase
			if err := json.Unmarshal(lines.Bytes(), &g); err == nil && g.Messages != nil { // the cases of layers have none
				all = append(all, g)
			}
		}
		must(t, lines.Err())
	}
	return all
}

// goldenKeys maps options of a case to keys of [compaction].
var goldenKeys = map[string]string{
	"dedup": "dedup", "fuzzyDedup": "near_dedup", "contradictionDetection": "contradictions",
}

// ask is a case as flags and configuration of ccd.
type ask struct {
	flags      []string
	config     string
	importance float64 // messages with at least this importance are kept; 0: off
	corrects   bool    // contradictions are searched
	scope      string  // why ccd cannot run the case, or ""
}

func (g *goldenCase) ask() (a ask) {
	recent, scoring, threshold := 4, false, 0.65
	roles, patterns := []string{"system"}, []string(nil) // their default; ours also keeps what people write
	keys, command := "", ""
	for key, value := range g.Options {
		var err error
		switch key {
		case "recencyWindow":
			err = json.Unmarshal(value, &recent)
		case "preserve":
			roles = nil
			if err = json.Unmarshal(value, &roles); len(roles) == 0 {
				roles = []string{"none of these"}
			}
		case "preservePatterns":
			patterns, err = patternsOf(value)
		case "importanceScoring":
			err = json.Unmarshal(value, &scoring)
		case "importanceThreshold":
			err = json.Unmarshal(value, &threshold)
		case "summarizer":
			command = mockOf(value)
		// Our markers always carry the ID, and the case states the window of a budget. The others do not affect
		// decisions.
		case "embedSummaryId", "tokenBudget", "sourceVersion", "minRecencyWindow", "forceConverge", "trace":
		default:
			ours, ok := goldenKeys[key]
			if !ok {
				a.scope = outOfScope(key)
				continue
			}
			keys += fmt.Sprintf("%s = %s\n", ours, value)
		}
		if err != nil {
			a.scope = key + ": a value of another kind"
		}
	}
	if g.Window != nil {
		recent = *g.Window
	}
	if scoring {
		a.importance = threshold
		keys += fmt.Sprintf("keep_importance = %.3f\n", threshold)
	}
	a.corrects = strings.Contains(keys, "contradictions = true")
	a.flags = []string{"--keep-recent", strconv.Itoa(recent)}
	for _, r := range roles {
		a.flags = append(a.flags, "--keep-role", r)
	}
	for _, p := range patterns {
		a.flags = append(a.flags, "--keep-pattern", p)
	}
	a.config = "[compaction]\n" + keys + command
	return a
}

// patternsOf returns the expressions of preservePatterns: strings, or objects with a member re, source or pattern.
func patternsOf(value json.RawMessage) (all []string, err error) {
	var list []json.RawMessage
	if err := json.Unmarshal(value, &list); err != nil {
		return nil, err
	}
	for _, raw := range list {
		var s string
		var o struct{ Re, Source, Pattern string }
		if json.Unmarshal(raw, &s) != nil {
			if err := json.Unmarshal(raw, &o); err != nil {
				return nil, err
			}
			s = cmp.Or(o.Re, o.Source, o.Pattern)
		}
		all = append(all, s)
	}
	return all, nil
}

// mockOf returns a command that does what the case's mock does: some write nothing or fail, some write too much.
func mockOf(value json.RawMessage) string {
	var mock struct {
		Mock string `json:"$mock"`
	}
	if json.Unmarshal(value, &mock) != nil || runtime.GOOS == "windows" {
		return ""
	}
	script := "true"
	switch name := strings.ToLower(mock.Mock); {
	case strings.HasPrefix(name, "first"):
		script = "tail -n 1 | head -c " + strings.TrimPrefix(name, "first")
	case strings.Contains(name, "long"), strings.Contains(name, "echo"), strings.Contains(name, "same"):
		script = "cat"
	case strings.Contains(name, "throw"), strings.Contains(name, "fail"), strings.Contains(name, "reject"):
		script = "false"
	}
	return fmt.Sprintf("[summarizer]\ncommand = [\"sh\", \"-c\", %q]\n", script)
}

// run filters the messages of a case and returns ccd's decisions.
func (g *goldenCase) run(t *testing.T, a ask) []form.Decided {
	t.Helper()
	list, err := json.Marshal(g.Messages)
	must(t, err)
	config := filepath.Join(t.TempDir(), "config.toml")
	put(t, config, a.config)
	args := append([]string{"compact", "--config", config, "--json", "--format", "messages", "-q"}, a.flags...)
	if !strings.Contains(a.config, "[summarizer]") {
		args = append(args, "--no-archive") // it runs no command
	}
	out := ran(t, list, append(args, "-")...)
	var report form.FilterReport
	if err := json.Unmarshal(out, &report); err != nil || len(report.Decisions) != len(g.Messages) {
		t.Fatalf("%s: %d decisions on %d messages, %v: %.300s", g.Name, len(report.Decisions), len(g.Messages), err, out)
	}
	return report.Decisions
}

// ran runs a command with input in a new home and returns its output.
func ran(t *testing.T, input []byte, args ...string) []byte {
	t.Helper()
	home := t.TempDir()
	out, code, talk := piped(home, input, args...)
	if code != 0 {
		t.Fatalf("ccd %q exits %d: %s", args, code, talk)
	}
	return out
}

func piped(home string, input []byte, args ...string) (out []byte, code int, talk string) {
	var stdout, stderr bytes.Buffer
	env := []string{"HOME=" + home, "USERPROFILE=" + home, "PATH=" + os.Getenv("PATH")}
	code = run(context.Background(), args, std(bytes.NewReader(input), &stdout, &stderr), env)
	return stdout.Bytes(), code, stderr.String()
}

// decided is the decision on a message.
type decided struct{ action, reason string }

// families maps their reasons to ours.
var families = map[string]string{
	"recency_window": "recent", "preserved_role": "role", "tool_calls": "tool call", "short_content": "short",
	"already_compressed": "marker", "single_reverted": "reverted", "group_reverted": "reverted", "hard_t0": "hard",
	"importance": "importance", "valid_json": "hard",
}

var actions = map[string]string{
	"fuzzy_deduped": "near-duped", "code_split": "split",
}

// differences compares their decisions with ours and returns those that no deviation excuses.
func (g *goldenCase) differences(t *testing.T) (faults []string, excused map[string]int) {
	t.Helper()
	a := g.ask()
	excused = map[string]int{}
	if byCase := deviationOf(g.Name); byCase != nil {
		excused[byCase.name()]++
		return nil, excused
	}
	ours := g.run(t, a)
	for _, d := range g.Decisions {
		if d.Index < 0 || d.Index >= len(ours) {
			faults = append(faults, fmt.Sprintf("%s: decision on message %d of %d", g.Name, d.Index, len(ours)))
			continue
		}
		theirs := decided{d.Action, d.Reason}
		if name := actions[d.Action]; name != "" {
			theirs.action = name
		}
		mine := decided{ours[d.Index].Action, ours[d.Index].Reason}
		if same(theirs, mine) {
			continue
		}
		names, ok := excuse(&difference{g: g, at: d, text: g.text(d.Index), theirs: theirs, ours: mine, importance: ours[d.Index].Importance, ask: &a})
		if !ok {
			faults = append(faults, fmt.Sprintf("%s: message %d: they %s (%s), we %s (%s)", g.Name, d.Index, d.Action, d.Reason, mine.action, mine.reason))
		}
		for _, n := range names {
			excused[n]++
		}
	}
	return faults, excused
}

// same reports whether two decisions have the same action and, if a message is kept, the same kind of reason. A reason
// of theirs without a counterpart is ignored.
func same(theirs, ours decided) bool {
	if theirs.action != ours.action {
		return false
	}
	family, known := families[firstPart(theirs.reason)]
	return ours.action != "preserved" || !known || strings.HasPrefix(ours.reason, family)
}

func firstPart(reason string) string {
	first, _, _ := strings.Cut(reason, ":")
	return first
}

// TestGoldens compares our decisions with theirs. Differences must be in the table of deviations.
func TestGoldens(t *testing.T) {
	cases, compared, outside := 0, 0, 0
	used := map[string]int{}
	for _, g := range testkit.Sample(t, goldens(t), 20) {
		switch {
		case g.Error != "":
			if d := deviationOf("error: " + firstPart(g.Error)); d == nil {
				t.Errorf("%s: they fail (%s), and no deviation says what we do", g.Name, g.Error)
			}
			g.run(t, g.ask())
			continue
		}
		cases++
		if why := g.ask().scope; why != "" {
			outside++
			t.Logf("%s: out of scope: %s", g.Name, why)
			continue
		}
		faults, excused := g.differences(t)
		for n, c := range excused {
			used[n] += c
		}
		compared += len(g.Decisions)
		for _, f := range faults {
			t.Error(f)
		}
	}
	t.Logf("%d cases, %d of them out of scope, %d decisions compared", cases, outside, compared)
	names := make([]string, 0, len(used))
	for n := range used {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		t.Logf("%3d x %s", used[n], n)
	}
}

// TestGoldensCanFail is the comparison's negative control.
func TestGoldensCanFail(t *testing.T) {
	text, err := json.Marshal(strings.Repeat("We walked to the mill and saw nothing new there at all today. ", 8))
	must(t, err)
	g := goldenCase{
		Name: "control", Messages: []map[string]json.RawMessage{{"role": json.RawMessage(`"user"`), "content": text}}, Options: map[string]json.RawMessage{"recencyWindow": json.RawMessage("0")},
		Decisions: []goldenDecision{{Action: "preserved", Reason: "hard_t0:api_key"}},
	}
	if faults, _ := g.differences(t); len(faults) != 1 {
		t.Errorf("a wrong decision gives %q", faults)
	}
	g.Decisions[0] = goldenDecision{Action: "compressed", Reason: "compressible_prose"}
	if faults, _ := g.differences(t); len(faults) != 0 {
		t.Errorf("the right decision gives %q", faults)
	}
}
