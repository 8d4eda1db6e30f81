package registry_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ccd/internal/agent/registry"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

const corpus = "../../../../shared/corpus"

// tally has the counts of MANIFEST.tsv for a file.
type tally struct{ broken, calls, results, images, boundaries, context, unmatched int }

// manifest reads the columns of tally, by file; it skips the test if there is no corpus.
func manifest(t testing.TB) map[string]tally {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(corpus, "MANIFEST.tsv"))
	if err != nil {
		t.Skipf("no corpus of real transcripts: %v", err)
	}
	files, columns := map[string]tally{}, map[string]int{}
	for line := range strings.Lines(string(data)) {
		row := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(columns) == 0 {
			for i, name := range row {
				columns[name] = i
			}
			continue
		}
		number := func(name string) int {
			n, _ := strconv.Atoi(row[columns[name]])
			return n
		}
		files[row[columns["file"]]] = tally{
			number("invalid"), number("tool_use"), number("tool_result"), number("images"), number("compactions"),
			number("max_context_tokens"), number("unmatched_result"),
		}
	}
	return files
}

// deviations lists the files in which ccd counts differently from the manifest, and why.
var deviations = map[string]struct {
	why  string
	want func(*tally)
}{
	"claude/asx-schema_drift.jsonl":       {"calls and results of an old type stand in lines of their own", func(c *tally) { c.calls, c.results, c.unmatched = 1, 1, 0 }},
	"claude/asx-small.jsonl":              {"one image stands in an attachment; records with one trimmed ID count once", func(c *tally) { c.images, c.boundaries = 1, 1 }},
	"claude/entire-37-995ebed6e4-2.jsonl": {"two values glued on one line are both parsed", func(c *tally) { c.broken = 0 }},
	"claude/entire-d5-99f72ee73a-0.jsonl": {"a microcompact_boundary clears results, it is no boundary of the context", func(c *tally) { c.boundaries = 0 }},
	"codex/asx-large.jsonl":               {"calls and results of an old type", func(c *tally) { c.calls, c.results = 1, 1 }},
	"codex/asx-schema_drift.jsonl":        {"a result of an old type", func(c *tally) { c.results = 1 }},
	"codex/asx-small.jsonl": {"tool_search counts, mcp event copies do not; an image in a result and a made one", func(c *tally) {
		c.calls, c.results, c.images, c.unmatched = 7, 6, 2, 1
	}},
}

func TestCorpus(t *testing.T) {
	seen := 0
	for name, want := range manifest(t) {
		dir, _, _ := strings.Cut(name, "/")
		agent := map[string]string{"claude": "claude-code", "codex": "codex"}[dir]
		if agent == "" || !strings.HasSuffix(name, ".jsonl") {
			continue
		}
		seen++
		t.Run(name, func(t *testing.T) {
			data := read(t, filepath.Join(corpus, name))
			class := transcript.Main
			if strings.Contains(name, "-subagents-") {
				class = transcript.SubAgent
			}
			if d, ok := deviations[name]; ok {
				d.want(&want)
			}
			got, output := count(t, agent, class, data)
			if agent == "claude-code" { // the manifest leaves the last reply's own output out
				got.context -= output
			}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(tally{})); diff != "" {
				t.Errorf("(-manifest +ccd):\n%s", diff)
			}
			if sniffed, _, ok := (registry.Table{}).Sniff(data[:min(len(data), 4096)]); !ok || sniffed != agent {
				t.Errorf("Sniff = %q, %v", sniffed, ok)
			}
			testkit.Must(t, joined(decode(registry.Table{}.NewDecoder(agent, class), data), data))
			if diff := cmp.Diff(records(t, agent, class, data), records(t, agent, class, data, len(data)/3, len(data)/2)); diff != "" {
				t.Error(diff)
			}
		})
	}
	if seen == 0 {
		t.Error("the corpus holds no transcript")
	}
}

// agentOf maps directories of the corpus to agents of another name.
var agentOf = map[string]string{
	"claude": "claude-code", "copilot": "copilot-cli", "droid": "factory-droid", "gemini": "gemini-cli", "qwen": "qwen-code",
	"opencode": "-", // pieces of a store that ccd does not read
}

// TestRealSessionsAreTheirAgents checks that real sessions are recognized by their beginnings, and that rows know every record of
// their own. TestCorpus counts those of Claude Code and Codex.
func TestRealSessionsAreTheirAgents(t *testing.T) {
	paths, _ := filepath.Glob(filepath.Join(corpus, "*", "*.json*"))
	if len(paths) == 0 {
		t.Skipf("no corpus of real transcripts at %s", corpus)
	}
	for _, path := range testkit.Sample(t, paths, 12) {
		agent := filepath.Base(filepath.Dir(path))
		counted := agent == "claude" || agent == "codex"
		if name, ok := agentOf[agent]; ok {
			agent = name
		}
		data := read(t, path)
		for _, n := range []int{len(data), 64 << 10, 4 << 10} {
			if sniffed, _, _ := agents().Sniff(data[:min(n, len(data))]); agent != "-" && family(sniffed) != family(agent) && !strings.Contains(path, "drift") && !strings.HasSuffix(path, ".meta.json") {
				t.Errorf("%s: the first %d bytes are taken for those of %q", path, n, sniffed)
			}
		}
		row, ok := agents().Lookup(agent)
		if !ok || counted || strings.Contains(path, "drift") {
			continue
		}
		for r := range transcript.NewDecoder(row, transcript.Main).Records(transcript.Segment{Data: data, Rest: true}) {
			if (r.Unknown || r.Broken) && r.Type != "compact" {
				t.Errorf("%s: record %d is strange: %.200s", path, r.N, r.Raw)
			}
		}
	}
}

func count(t *testing.T, agent string, class transcript.Class, data []byte) (c tally, output int) {
	t.Helper()
	calls := map[string]bool{}
	for r := range (registry.Table{}).NewDecoder(agent, class).Records(transcript.Segment{Data: data, Rest: true}) {
		if r.Broken {
			c.broken++
		}
		if r.Boundary != nil {
			c.boundaries++
		}
		if r.Usage != nil && !r.Usage.Side && int(r.Usage.Context) > c.context {
			c.context = int(r.Usage.Context)
			output = int(transcript.Node{Raw: r.Raw}.Field("message").Field("usage").Field("output_tokens").Integer())
		}
		for _, i := range r.Items {
			switch {
			case i.Kind == transcript.Call:
				c.calls++
				calls[i.Call] = true
			case i.Kind == transcript.Image:
				c.images++
			case i.Kind == transcript.Result || i.Call != "":
				c.results++
				c.images += i.Explain(i.Tool, i.Client().Op(i.Tool)).Images
				if !calls[i.Call] {
					c.unmatched++
				} else if i.Tool == "" && i.Call != "" {
					t.Errorf("#%d: a result of %s without its tool", r.N, i.Call)
				}
			}
		}
	}
	return c, output
}

// TestTornRecord cuts records off at any byte, with the next record on the same line: that one is read, and the line counts as
// one that was not read in whole.
func TestTornRecord(t *testing.T) {
	var names []string
	for _, at := range []string{"testdata/*.jsonl", corpus + "/*/*.jsonl"} {
		found, err := filepath.Glob(at)
		testkit.Must(t, err)
		names = append(names, found...)
	}
	rng := rand.New(rand.NewPCG(testkit.Seed(), 7))
	for _, name := range testkit.Sample(t, names, 30) {
		b, err := os.ReadFile(name)
		testkit.Must(t, err)
		lines := bytes.Split(bytes.TrimSpace(b), []byte("\n"))
		agent := agentOf[filepath.Base(filepath.Dir(name))]
		if first, _, _ := strings.Cut(filepath.Base(name), "."); agent == "" {
			agent = agentOf[first]
		}
		if len(lines) < 3 || agent == "" {
			continue
		}
		for range testkit.Cases(t, 10, 200) {
			i := 1 + rng.IntN(len(lines)-2)
			if len(lines[i]) < 2 || !transcript.Valid(lines[i]) || !transcript.Valid(lines[i+1]) || len(lines[i]) > 1<<20 {
				continue
			}
			torn := lines[i][:1+rng.IntN(len(lines[i])-1)]
			whole := lines[i+1]
			want := lastRecord(agent, [][]byte{lines[0], whole})
			got := lastRecord(agent, [][]byte{lines[0], append(bytes.Clone(torn), whole...)})
			if want.Unknown { // what no record of a known type is may be a part of the cut one
				continue
			}
			if !got.Broken || !got.Unread || !slices.EqualFunc(want.Items, got.Items, sameItem) {
				t.Errorf("%s: %d items of %d, broken %t, from %.200q then %.200q", name, len(got.Items), len(want.Items), got.Broken, torn, whole)
			}
		}
	}
}

func lastRecord(agent string, lines [][]byte) transcript.Record {
	all := decode(registry.Table{}.NewDecoder(agent, transcript.Main), append(bytes.Join(lines, []byte("\n")), '\n'))
	return all[len(all)-1]
}

func sameItem(a, b transcript.Item) bool { return a.Kind == b.Kind && bytes.Equal(a.Raw, b.Raw) }

// TestReplayOfRealSessions checks that replaying the calls gives the same file as the client recorded before each edit.
func TestReplayOfRealSessions(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(corpus, "claude", "*.jsonl"))
	if err != nil || len(paths) == 0 {
		t.Skip("no real sessions here")
	}
	same, unknown := 0, 0
	for _, path := range paths {
		data, err := os.ReadFile(path)
		testkit.Must(t, err)
		calls := map[string]transcript.Item{}
		files := map[string]transcript.Content{}
		for r := range (registry.Table{}).NewDecoder("claude-code", transcript.Main).Records(transcript.Segment{Data: data, Rest: true}) {
			for _, it := range r.Items {
				call, ok := calls[it.Call]
				switch {
				case it.Kind == transcript.Call:
					it.Raw = slices.Clone(it.Raw)
					calls[it.Call] = it
				case it.Kind == transcript.Result && ok:
					a := call.Understand()
					a.Resolve(r.Cwd)
					out := it.Explain(call.Tool, a.Op)
					kept, _ := transcript.CopyOf(r)
					for n, ch := range a.Changes(&out) {
						before := files[ch.Path]
						if want, ok := kept.Before.Text(); ok && kept.Path == ch.Path {
							got, known := before.Text()
							switch {
							case !known:
								unknown++
							case got != want:
								t.Errorf("%s#%d: %s: %d bytes by replay, the client kept %d", filepath.Base(path), r.N, filepath.Base(ch.Path), len(got), len(want))
							default:
								same++
							}
							// Seen keeps the client's content only where the two agree.
							if all, ok := kept.Before.Seen(before).Text(); !ok || all != want {
								t.Errorf("%s#%d: what is known in part is not so", filepath.Base(path), r.N)
							}
							before = kept.Before
						}
						if ch.Op == transcript.Read {
							files[ch.Path] = before.Seen(call.Client().Reading(call.Tool, &a, &out))
							continue
						}
						files[ch.Path] = call.Client().After(call.Tool, call.Raw, n, before)
					}
				}
			}
		}
	}
	t.Logf("before %d edits the replay tells the file as the client kept it; before %d it tells nothing, or lines only", same, unknown)
	if same < 25 {
		t.Error("hardly any edit is checked")
	}
}
