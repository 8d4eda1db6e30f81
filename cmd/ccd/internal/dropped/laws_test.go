package dropped

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ccd/internal/agent/registry"
	"ccd/internal/gen"
	"ccd/internal/mark"
	"ccd/internal/scorecard"
	"ccd/internal/transcript"
)

// corpus holds real transcripts, beside the checkout; they are no part of it.
const corpus = "../../../../../shared/corpus"

func recordsOf(agent string, data []byte) Records {
	return func() iter.Seq2[*transcript.Record, error] {
		d := registry.Table{}.NewDecoder(agent, transcript.Main)
		return func(yield func(*transcript.Record, error) bool) {
			for r := range d.Records(transcript.Segment{Data: data, Rest: true}) {
				if !yield(r, nil) {
					return
				}
			}
		}
	}
}

// boundary is what an agent writes when it compacts its context to this summary.
func boundary(agent, summary string) string {
	l := &log{agent: agent}
	if agent == "codex" {
		l.replace(prefix+summary, message("user", prefix+summary))
	} else {
		l.compact(summary)
	}
	return strings.Join(l.lines, "\n") + "\n"
}

// compacted is a transcript that the agent compacts at its end.
func compacted(agent string, data []byte, summary string) []byte {
	return append(append(bytes.TrimRight(bytes.Clone(data), "\n"), '\n'), boundary(agent, summary)...)
}

// heldBy is an original as a reader of `ccd restore` finds facts in it: its text, what it is when read as JSON, and as
// tools write it.
func heldBy(it *transcript.Item) string {
	text := string(transcript.Original(it.Kind, it.Raw))
	var all []string
	said, _ := it.Said()
	for _, part := range []string{text, said, unescaped(text)} {
		all = append(all, plain(part))
	}
	if it.Kind == transcript.Call {
		all = append(all, plain(it.Understand().Command))
	} else {
		all = append(all, plain(it.Explain(it.Tool, transcript.Command).Text))
	}
	return strings.Join(all, "\x00")
}

// unescaped is every string of a JSON text, one a line; "" of any other text.
func unescaped(text string) string {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return ""
	}
	var b strings.Builder
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			b.WriteString(v + "\n")
			b.WriteString(unescaped(v))
		case []any:
			for _, one := range v {
				walk(one)
			}
		case map[string]any:
			for _, one := range v {
				walk(one)
			}
		}
	}
	walk(v)
	return b.String()
}

var ansi = regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]`)

func plain(text string) string {
	text = ansi.ReplaceAllString(text, "")
	return strings.Join(strings.Fields(strings.NewReplacer("`", "", "**", "").Replace(text)), " ")
}

// place is where an original stands.
type place struct {
	record int
	id     mark.ID
}

// check holds a report against its session: counts add up, and each dropped fact is in the original that is named, in
// the record that is named, before the compaction.
func check(t *testing.T, name string, records Records, r *Report) {
	t.Helper()
	holds := map[place]string{}
	for rec, err := range records() {
		if err != nil {
			t.Fatal(err)
		}
		for i := range rec.Items {
			if it := &rec.Items[i]; rec.N < r.Record {
				holds[place{rec.N, mark.Sum(it.Raw).ID()}] = heldBy(it)
			}
		}
	}
	var sum Class
	for _, c := range r.Classes {
		sum.Facts, sum.Kept, sum.Dropped = sum.Facts+c.Facts, sum.Kept+c.Kept, sum.Dropped+c.Dropped
		if c.Facts != c.Kept+c.Dropped || c.Dropped != len(c.List)+c.More {
			t.Errorf("%s: %s does not add up: %+v", name, c.Class, c)
		}
		for _, one := range c.List {
			if fault := misplaced(c.Class, one, holds); fault != "" {
				t.Errorf("%s: %s %+v: %s", name, c.Class, one, fault)
			}
		}
	}
	if sum.Facts != r.Facts || sum.Kept != r.Kept || sum.Dropped != r.Dropped {
		t.Errorf("%s: classes add up to %+v, all is %d = %d + %d", name, sum, r.Facts, r.Kept, r.Dropped)
	}
}

// misplaced tells what is wrong with a fact's originals, "" where nothing is. Calls name a path in their own way.
func misplaced(class scorecard.Class, one scorecard.Fact, holds map[place]string) string {
	text, ok := holds[place{one.Record, one.ID}]
	want := one.Text
	if class == scorecard.Edited || class == scorecard.Deleted {
		want = path.Base(want)
	}
	output := one.Output == ""
	for at, printed := range holds {
		if at.id == one.Output {
			output = true
			text += "\x00" + printed
		}
	}
	switch {
	case !ok:
		return "no such original stands there"
	case want == "" && one.Tail == "":
		return "it says nothing"
	case !strings.Contains(text, want) || !strings.Contains(text, one.Tail):
		return fmt.Sprintf("its original does not hold it: %.300q", text)
	case !output:
		return "its output is no original"
	}
	return ""
}

// Of a session that the agent compacts to nothing, every fact comes back by its ID.
func compactAway(t *testing.T, name, agent string, data []byte) {
	t.Helper()
	data = compacted(agent, data, "Nothing.")
	records := recordsOf(agent, data)
	r, err := Of(records, Choice{})
	if isNone(err) {
		return // nothing was said in it
	}
	if err != nil {
		t.Fatal(err)
	}
	check(t, name, records, r)
	t.Logf("%s: %d facts, %d dropped", name, r.Facts, r.Dropped)
}

func TestInventedSessions(t *testing.T) {
	for _, agent := range []string{gen.Claude, gen.Codex} {
		var b bytes.Buffer
		if err := gen.Write(&b, agent, 7, 400<<10); err != nil {
			t.Fatal(err)
		}
		compactAway(t, agent, agent, b.Bytes())
	}
}

func TestRealSessions(t *testing.T) {
	seen := 0
	for dir, agent := range map[string]string{"claude": "claude-code", "codex": "codex"} {
		files, _ := filepath.Glob(filepath.Join(corpus, dir, "*.jsonl"))
		for _, name := range files {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			seen++
			compactAway(t, filepath.Base(name), agent, data)
		}
	}
	if seen == 0 {
		t.Skipf("no real transcripts at %s: this test needs them", corpus)
	}
}

func FuzzReport(f *testing.F) {
	f.Add([]byte(strings.Join(workday().lines, "\n")), "Nothing.", false)
	f.Add([]byte(strings.Join(rollout().lines, "\n")), "make test -> 2", true)
	f.Add([]byte(boundary("claude-code", "a")+boundary("claude-code", "b")), "grind", false)
	f.Add([]byte(`{"type":"compacted","payload":{"replacement_history":[{"type":"message"},[],{"content":[{"text":1}]}]}}`), "", true)
	f.Fuzz(func(t *testing.T, data []byte, summary string, codex bool) {
		agent := "claude-code"
		if codex {
			agent = "codex"
		}
		records := recordsOf(agent, compacted(agent, data, summary))
		r, err := Of(records, Choice{})
		if err != nil && !isNone(err) {
			t.Fatal(err)
		}
		if err != nil {
			return
		}
		known := map[mark.ID]bool{}
		for rec := range records() {
			for _, it := range rec.Items {
				known[mark.Sum(it.Raw).ID()] = known[mark.Sum(it.Raw).ID()] || rec.N < r.Record
			}
		}
		kept, dropped := 0, 0
		for _, c := range r.Classes {
			kept, dropped = kept+c.Kept, dropped+c.Dropped
			for _, one := range c.List {
				if !known[one.ID] || one.Record >= r.Record || one.Text+one.Tail == "" {
					t.Errorf("%s %+v: no original of it stands before #%d", c.Class, one, r.Record)
				}
			}
		}
		if kept != r.Kept || dropped != r.Dropped || kept+dropped != r.Facts {
			t.Errorf("counts do not add up: %+v", r)
		}
	})
}

// What counts as kept stands in the summary or in what was kept beside it, by a rule of its own: the words are there.
func TestWhatIsKeptStands(t *testing.T) {
	claude := workday()
	last := claude.say("The flour is fine, says sieveFlour.")
	claude.compact(told, last)
	codex := rollout()
	codex.replace("", message("user", "Mill the rye with `sieveFlour`."), message("user", prefix+"make test -> 2, stone wheel"))
	for agent, l := range map[string]*log{"claude-code": claude, "codex": codex} {
		r := l.report(t, Choice{})
		gone := map[scorecard.Fact]bool{}
		for _, c := range r.Classes {
			for _, one := range c.List {
				gone[scorecard.Fact{Text: one.Text, Record: one.Record, Status: one.Status}] = true
			}
		}
		facts, text := scorecard.New(), told+" The flour is fine, says sieveFlour."
		if agent == "codex" {
			text = "Mill the rye with `sieveFlour`. make test -> 2, stone wheel"
		}
		for rec := range l.records() {
			if rec.N < r.Record {
				facts.Add(rec)
			}
		}
		kept := 0
		for one := range facts.All() {
			if gone[scorecard.Fact{Text: one.Text, Record: one.Record, Status: one.Status}] {
				continue
			}
			kept++
			if !strings.Contains(plain(text), one.Text) {
				t.Errorf("%s: %s %q counts as kept, and does not stand", agent, one.Class, one.Text)
			}
		}
		if kept == 0 || kept != r.Kept {
			t.Errorf("%s: %d kept, the report has %d", agent, kept, r.Kept)
		}
	}
}
