package compactor

import (
	"bufio"
	"encoding/json"
	goflag "flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ccd/compactor/lexicon"
	"ccd/internal/transcript"
)

var updateDocs = goflag.Bool("update", false, "write the table of deviations in docs/ENGINE.md anew")

// golden is one call of the three-layer design.
type golden struct {
	Name     string          `json:"name"`
	Function string          `json:"function"`
	Input    json.RawMessage `json:"input"`
	Output   json.RawMessage `json:"output"`
}

// layerDeviation is a difference on purpose from the three-layer design, and the calls that it stands for.
type layerDeviation struct {
	is, theirs, ours, why string
	fits                  func(g *golden) bool
}

var layerDeviations = []layerDeviation{
	{
		"microcompact: other tools", "keep results of tools that are not in a list, or whose call is unknown", "clear them", "any tool's old large result is in the archive, one ID away",
		func(g *golden) bool {
			return g.Function == "microcompact" && !strings.Contains(string(g.Output), "[Output compacted")
		},
	},
	{
		"microcompact: lists", "keep results whose content is a list of blocks", "clear them", "the text of the blocks is the content",
		func(g *golden) bool {
			return g.Function == "microcompact" && strings.Contains(string(g.Input), `"list"`)
		},
	},
	{
		"microcompact: placeholders", "leave their own placeholder alone", "never see one", "nothing of ours is read again: all derives from the transcript",
		func(g *golden) bool { return g.Function == "microcompact" && strings.Contains(string(g.Input), "38") },
	},
	{"should_compact: JSON", "count the JSON around a message", "count its text", "the estimate is of what stands in the message; less than 100 tokens beside an edge the difference shows", besideEdge},
	{
		"restored files: large ones", "leave a file of over 5000 tokens out", "cut it to 5000", "its beginning is worth more than nothing, and its ID has the rest",
		func(g *golden) bool {
			return g.Function == "restore_recent_files" && strings.Contains(string(g.Input), `"b.txt"`) && !strings.Contains(string(g.Output), "b.txt")
		},
	},
	{
		"auto_compact", "user, assistant, a pair for each file, the last five messages, or two where there are no more than five", "State, Earlier and the files in one user message, the reply, the last messages", "pairs stay whole, the floor is five messages, and nothing is summarised where there is nothing; the shape is tested where it is made",
		func(g *golden) bool { return g.Function == "auto_compact" },
	},
	{
		"save_transcript", "append the whole list to a transcript of their own at each compaction", "archive new bytes once", "the archive holds the transcript itself",
		func(g *golden) bool { return g.Function == "save_transcript" },
	},
}

// besideEdge reports whether a call is so near to a limit that the JSON around the messages decides it.
func besideEdge(g *golden) bool {
	var in struct {
		Chars []int `json:"chars"`
		Total int   `json:"total_tokens"`
	}
	if g.Function != "should_compact" || json.Unmarshal(g.Input, &in) != nil {
		return false
	}
	old, slack := 0, 100*max(1, len(in.Chars))
	for _, n := range in.Chars[:max(0, len(in.Chars)-5)] {
		old += tokens(n)
	}
	near := func(n, edge int) bool { return n > edge-slack && n < edge+slack }
	return near(old, 20000) || near(in.Total, 170616)
}

// layer runs one call of the three-layer design with our functions; ok is false where none of them does the like.
func (g *golden) layer(t *testing.T) (got string, ok bool) {
	t.Helper()
	switch g.Function {
	case "auto_compact_threshold":
		return g.threshold(), true
	case "estimate_tokens":
		var text string
		must(json.Unmarshal(g.Input, &text))
		return fmt.Sprint(tokens(lexicon.Chars(text))), true
	case "microcompact":
		return g.microcompacted(t)
	case "should_compact":
		return g.triggered(), true
	case "handle_large_output":
		return g.large(t), true
	case "restore_recent_files":
		return g.restoredFiles(t), true
	}
	return "", false
}

func (g *golden) threshold() string {
	var in struct {
		Window int64 `json:"context_window"`
		Output int64 `json:"max_output"`
	}
	must(json.Unmarshal(g.Input, &in))
	o := Defaults()
	o.MaxOutput = in.Output
	return fmt.Sprint(o.limit(in.Window))
}

// microcompacted tells of each result whether it is cleared.
func (g *golden) microcompacted(t *testing.T) (string, bool) {
	var in struct {
		Sizes []json.RawMessage `json:"tool_result_sizes"`
	}
	must(json.Unmarshal(g.Input, &in))
	s := newScript()
	for i, size := range in.Sizes {
		var n int
		if json.Unmarshal(size, &n) != nil {
			return "", false
		}
		s.bash(fmt.Sprintf("true %d", i), strings.Repeat("x", n))
	}
	f := fold(t, s.buf.Bytes(), Defaults())
	d := f.draft(t)
	var out []string
	for i := range f.rows.n {
		if row := f.rows.at(i); row.kind == transcript.Result {
			out = append(out, fmt.Sprint(int32(i) < f.keepFrom() && d.isMicro(int(row.chars))))
		}
	}
	return strings.Join(out, " "), true
}

func (f *folded) draft(t *testing.T) *draft {
	t.Helper()
	d := newDraft(f.Compactor, f.text())
	if d.err != nil {
		t.Fatal(d.err)
	}
	return d
}

// triggered tells whether the threshold fires; pressure is not theirs.
func (g *golden) triggered() string {
	var in struct {
		Messages int   `json:"messages"`
		Each     int   `json:"chars_each"`
		Chars    []int `json:"chars"`
	}
	must(json.Unmarshal(g.Input, &in))
	for range in.Messages {
		in.Chars = append(in.Chars, in.Each)
	}
	o := Defaults()
	o.Pressure = 1 << 20
	c := New(o, transcript.Session{})
	for _, n := range in.Chars {
		c.Add(chatter(n, 0))
	}
	return fmt.Sprint(c.Status().Trigger == "threshold")
}

func (g *golden) large(t *testing.T) string {
	var in struct {
		Chars int `json:"chars"`
	}
	must(json.Unmarshal(g.Input, &in))
	s := newScript()
	s.bash("cat log", strings.Repeat("z", in.Chars))
	f := fold(t, s.buf.Bytes(), Defaults())
	d := f.draft(t)
	for i := range f.rows.n {
		if row := f.rows.at(i); row.kind == transcript.Result {
			return fmt.Sprint(d.isLarge(row))
		}
	}
	return "no result"
}

var restoredTitle = regexp.MustCompile("(?m)^### `([^`]+)`")

// restoredFiles names the files that come back, in order.
func (g *golden) restoredFiles(t *testing.T) string {
	var names []string
	must(json.Unmarshal(g.Input, &names))
	s := newScript()
	s.human("Look at the files.")
	for _, name := range names {
		size := 40
		if name == "b.txt" {
			size = 4000
		}
		if full := path.Join("/home/me/ledger", name); strings.HasPrefix(name, "n") && name[1] == 'o' || strings.HasPrefix(name, "../..") {
			s.fails("cat "+full, "cat: "+full+": No such file or directory", 1)
		} else {
			s.read(full, strings.Repeat("line of "+name+"\n", size))
		}
	}
	for i := range 60 {
		s.say(fmt.Sprintf("Thought %d: ", i) + strings.Repeat(fmt.Sprintf("what %d means is not yet clear. ", i), 60))
	}
	var out []string
	for _, m := range restoredTitle.FindAllStringSubmatch(fold(t, s.buf.Bytes(), Defaults()).compact(t).section("Files"), -1) {
		out = append(out, path.Base(m[1]))
	}
	return strings.Join(out, " ")
}

// wanted is the output of a case in the words of layer.
func (g *golden) wanted() string {
	switch g.Function {
	case "microcompact":
		var out []string
		var texts []string
		must(json.Unmarshal(g.Output, &texts))
		for _, s := range texts {
			out = append(out, fmt.Sprint(strings.HasPrefix(s, "[Output compacted")))
		}
		return strings.Join(out, " ")
	case "handle_large_output":
		return fmt.Sprint(strings.Contains(string(g.Output), "Output too large"))
	case "restore_recent_files":
		var out []string
		var texts []string
		must(json.Unmarshal(g.Output, &texts))
		for _, s := range texts {
			name, _, _ := strings.Cut(strings.TrimPrefix(s, "[Restored after compact] "), ":")
			out = append(out, name)
		}
		return strings.Join(out, " ")
	}
	return string(g.Output)
}

// TestLayers compares what we do with the calls of the three-layer design.
func TestLayers(t *testing.T) {
	compared := 0
	var listed []string
	for _, g := range goldens(t) {
		if g.Function == "" {
			continue
		}
		if got, ok := g.layer(t); ok && got == g.wanted() {
			compared++
			continue
		} else if d := g.layerDeviation(); d != "" {
			listed = append(listed, g.Name+" ("+d+")")
		} else {
			t.Errorf("%s: %s gives %q, want %q", g.Name, g.Function, got, g.wanted())
		}
	}
	slices.Sort(listed)
	t.Logf("%d calls agree; deviations: %s", compared, strings.Join(listed, ", "))
}

// layerDeviation names the deviation that stands for a call, "" where none does.
func (g *golden) layerDeviation() string {
	for _, d := range layerDeviations {
		if d.fits(g) {
			return d.is
		}
	}
	return ""
}

// goldens reads the calls of $CCD_GOLDENS, or skips the test where there is none.
func goldens(t *testing.T) (all []golden) {
	t.Helper()
	dir := os.Getenv("CCD_GOLDENS")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "goldens")
	}
	files, err := filepath.Glob(filepath.Join(dir, "layers*.jsonl"))
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
			if err := json.Unmarshal(lines.Bytes(), &g); err != nil {
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

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// TestLayerDeviationsAreDocumented holds the table of docs/ENGINE.md to the one here.
func TestLayerDeviationsAreDocumented(t *testing.T) {
	var b strings.Builder
	b.WriteString("| difference | they | we | why |\n|---|---|---|---|\n")
	for _, d := range layerDeviations {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", d.is, d.theirs, d.ours, d.why)
	}
	const begin, end = "<!-- layers -->\n", "<!-- /layers -->"
	name := filepath.Join("..", "docs", "ENGINE.md")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(data), begin)
	shown, after, closed := strings.Cut(rest, end)
	switch {
	case !ok || !closed:
		t.Fatalf("%s has no %s", name, strings.TrimSpace(begin))
	case shown == b.String():
	case !*updateDocs:
		t.Fatalf("the table in %s is not the one of layers_test.go; renew it with go test ./compactor -run Deviations -args -update", name)
	default:
		must(os.WriteFile(name, []byte(before+begin+b.String()+end+after), 0o644))
	}
}
