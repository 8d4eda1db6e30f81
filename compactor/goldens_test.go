package compactor

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// golden is one case of what a public engine did: of the pipeline engine, or of the three-layer design.
type golden struct {
	Name      string                     `json:"name"`
	Rule      string                     `json:"rule"`
	Messages  []goldenMessage            `json:"messages"`
	Options   map[string]json.RawMessage `json:"options"`
	Decisions []goldenDecision           `json:"decisions"`
	Window    *int                       `json:"recencyWindow"` // that a budget came to
	Error     string                     `json:"error"`
	Function  string                     `json:"function"`
	Input     json.RawMessage            `json:"input"`
	Output    json.RawMessage            `json:"output"`
}

type goldenMessage struct {
	ID        json.RawMessage   `json:"id"`
	Role      string            `json:"role"`
	Content   json.RawMessage   `json:"content"`
	ToolCalls []json.RawMessage `json:"tool_calls"`
}

type goldenDecision struct {
	Index  int    `json:"messageIndex"`
	Action string `json:"action"`
	Reason string `json:"reason"`
	In     int    `json:"inputChars"`
	Out    int    `json:"outputChars"`
}

// text is the message's text; "" for content that is no string.
func (m *goldenMessage) text() string {
	var s string
	if json.Unmarshal(m.Content, &s) != nil {
		return ""
	}
	return s
}

// goldens reads every case of $CCD_GOLDENS, or skips the test where there is none.
func goldens(t *testing.T) (all []golden) {
	t.Helper()
	dir := os.Getenv("CCD_GOLDENS")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "goldens")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Skipf("no goldens in %s: set CCD_GOLDENS to the directory that holds them", dir)
	}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			var g golden
			if err := json.Unmarshal(lines.Bytes(), &g); err != nil && g.Error == "" {
				t.Fatalf("read %s: %v", name, err)
			}
			all = append(all, g)
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// ask is a case in our words.
type ask struct {
	o         Options
	recent    int // newest messages that stay
	near      float64
	topic     float64
	summarize func(text string) (string, bool) // the summarizer of the case, nil where it has none
	scope     string                           // why the case is none of ours, "" otherwise
}

// ask maps the options of a case to ours.
func (g *golden) ask() (a ask) {
	a = ask{o: Defaults(), recent: 4, near: nearLike, topic: topicOverlap}
	scoring, threshold := false, 0.65
	known := map[string]any{
		"recencyWindow": &a.recent, "dedup": &a.o.Dedup, "fuzzyDedup": &a.o.NearDedup, "fuzzyThreshold": &a.near,
		"contradictionDetection": &a.o.Contradictions, "contradictionTopicThreshold": &a.topic,
		"importanceScoring": &scoring, "importanceThreshold": &threshold,
		// Our markers always carry the ID; the window that a budget came to stands in the case; the rest decides nothing.
		"embedSummaryId": nil, "tokenBudget": nil, "sourceVersion": nil, "minRecencyWindow": nil, "forceConverge": nil, "trace": nil,
	}
	for key, value := range g.Options {
		switch ours, ok := known[key]; {
		case key == "summarizer":
			a.summarize = summarizerOf(value)
		case !ok:
			a.scope = outOfScope(key)
		case ours != nil && json.Unmarshal(value, ours) != nil:
			a.scope = key + ": a value that is no " + strings.TrimPrefix(fmt.Sprintf("%T", ours), "*")
		}
	}
	if g.Window != nil {
		a.recent = *g.Window
	}
	if scoring {
		a.o.KeepImportance = threshold
	}
	return a
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// summarizerOf is what the mock of a case does, by its name: some write nothing or fail, some write too much.
func summarizerOf(value json.RawMessage) func(string) (string, bool) {
	var mock struct {
		Mock string `json:"$mock"`
	}
	if json.Unmarshal(value, &mock) != nil {
		return nil
	}
	return func(text string) (string, bool) {
		var n int
		switch name := strings.ToLower(mock.Mock); {
		case strings.HasPrefix(name, "first"):
			if _, err := fmt.Sscanf(name, "first%d", &n); err == nil {
				return head(text, n), true
			}
		case strings.Contains(name, "long"), strings.Contains(name, "echo"), strings.Contains(name, "same"):
			return text + text, true
		}
		return "", false
	}
}

// decided is what we do with a message, in the pipeline's order: the rules, then merging and the size guard.
type decided struct {
	action, reason string
}

// run decides on the messages of a case.
func (g *golden) run(a ask) []decided {
	all := make([]talk, len(g.Messages))
	for i := range g.Messages {
		m := &g.Messages[i]
		text := ourMarker(m.text())
		all[i] = talk{
			role: m.Role, row: -1, kind: transcript.Text, text: text, shape: shapeOfText(text), plain: true,
			recent: i >= len(all)-a.recent, toolCall: len(m.ToolCalls) > 0,
		}
	}
	for i, v := range importanceOf(all) {
		all[i].importance = v
	}
	r := rules{o: &a.o, all: all, overlaps: overlaps{topic: a.topic, near: a.near}}
	ds := r.decide()
	out := make([]decided, len(ds))
	for i, d := range ds {
		out[i] = decided{d.action.String(), d.reason}
		if d.action == split && !a.saves(splitCode(all[i].text, a.summary), 0, all[i].chars) {
			out[i] = decided{preserved.String(), "reverted"}
		}
	}
	for _, run := range runsOf(all, ds) {
		var texts []string
		chars := 0
		for _, m := range all[run[0]:run[1]] {
			texts = append(texts, m.text)
			chars += m.chars
		}
		if !a.saves(a.summary(strings.Join(texts, "\n\n")), run[1]-run[0], chars) {
			for i := run[0]; i < run[1]; i++ {
				out[i] = decided{preserved.String(), "reverted"}
			}
		}
	}
	return out
}

// summary is what the case's summarizer writes, where it is any good, else ours.
func (a *ask) summary(text string) string {
	if a.summarize != nil && !isStructured(text, runes(text)) {
		if s, ok := a.summarize(text); ok && s != "" && runes(s) < runes(text) {
			return s
		}
	}
	return summarize([]string{text}, &a.o, 0)
}

// saves reports whether a summary, within its marker, is shorter than so many chars.
func (a *ask) saves(summary string, merged, chars int) bool {
	note := "summary: " + summary
	if merged > 1 {
		note += fmt.Sprintf(" (%d messages merged)", merged)
	}
	return summary != "" && runes(mark.New("0123456789ab", note)) < chars
}

// ourMarker is a text that begins with a marker of the other engine, with one of ours in its place.
func ourMarker(text string) string {
	for _, p := range []string{"[summary", "[truncated", "[cce:"} {
		if strings.HasPrefix(text, p) {
			return "[ccd 0123456789ab " + text[1:]
		}
	}
	return text
}

// families are their reasons in our words.
var families = map[string]string{
	"recency_window": "recent", "preserved_role": "role", "tool_calls": "tool call", "short_content": "short",
	"already_compressed": "marker", "single_reverted": "reverted", "group_reverted": "reverted", "hard_t0": "hard",
	"importance": "importance", "valid_json": "json",
}

var actions = map[string]string{
	"fuzzy_deduped": "near-duped", "code_split": "split",
}

// differences compares their decisions with ours, and gives those that no deviation excuses.
func (g *golden) differences(t *testing.T) (faults []string, excused map[string]int) {
	a := g.ask()
	excused = map[string]int{}
	if byCase := deviationOf(g.Name); byCase != nil {
		excused[byCase.name()]++
		return nil, excused
	}
	ours := g.run(a)
	for _, d := range g.Decisions {
		if d.Index < 0 || d.Index >= len(ours) {
			faults = append(faults, fmt.Sprintf("%s: decision on message %d of %d", g.Name, d.Index, len(ours)))
			continue
		}
		theirs := decided{action: d.Action, reason: d.Reason}
		if name := actions[d.Action]; name != "" {
			theirs.action = name
		}
		mine := ours[d.Index]
		if same(theirs, mine) {
			continue
		}
		names, ok := excuse(&difference{g: g, at: d, text: g.Messages[d.Index].text(), theirs: theirs, ours: mine, ask: &a})
		if !ok {
			faults = append(faults, fmt.Sprintf("%s: message %d: they %s (%s), we %s (%s)", g.Name, d.Index, d.Action, d.Reason, mine.action, mine.reason))
		}
		for _, n := range names {
			excused[n]++
		}
	}
	return faults, excused
}

// same reports whether two decisions are one: the same action and, where a message is kept, for the same kind of
// reason. A reason of theirs that we have no word for does not count.
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

// TestGoldens compares our decisions with theirs. What differs must stand in the table of deviations.
func TestGoldens(t *testing.T) {
	cases, compared, outside := 0, 0, 0
	used := map[string]int{}
	for _, g := range goldens(t) {
		switch {
		case g.Function != "":
			continue // see TestLayers
		case g.Error != "":
			if d := deviationOf("error: " + firstPart(g.Error)); d == nil {
				t.Errorf("%s: they fail (%s), and no deviation says what we do", g.Name, g.Error)
			}
			g.run(g.ask()) // must not panic
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
	if err != nil {
		t.Fatal(err)
	}
	g := golden{
		Name: "control", Messages: []goldenMessage{{Role: "user", Content: text}}, Options: map[string]json.RawMessage{"recencyWindow": json.RawMessage("0")},
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
