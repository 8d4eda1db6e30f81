package search_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ccd/cmd/ccd/internal/history"
	"ccd/cmd/ccd/internal/search"
	"ccd/internal/mark"
	"ccd/internal/testkit"
	"ccd/internal/testkit/gen"
	"ccd/internal/transcript"
)

// act is a call, or what it returned, as a full decoding finds it.
type act struct {
	place
	files []string // names of those that the call is on
}

// acts are those of a session's first generation.
func (s *shelf) acts(k transcript.Key) (all []act) {
	s.t.Helper()
	files := map[string][]string{}
	for r, err := range history.Records(context.Background(), history.Archive{Archive: s.Archive}, transcript.Session{Key: k, Class: transcript.Main}, 1) {
		if err != nil {
			s.t.Fatal(err)
		}
		for _, it := range r.Items {
			if it.Kind == transcript.Call {
				files[it.Call] = nil
				for _, f := range it.Understand().Files {
					files[it.Call] = append(files[it.Call], path.Base(f.Path), path.Base(f.To))
				}
			}
			if text, _ := transcript.Readable(it.Kind, it.Raw); it.Call != "" && len(text) > 0 {
				all = append(all, act{place{r.N, it.Kind.String(), it.Tool, mark.Sum(it.Raw).ID()}, files[it.Call]})
			}
		}
	}
	slices.Reverse(all)
	return all
}

// Nothing that a tool did, or that was done to a file, is missed that a full decoding finds.
func TestCallsAreThoseOfAFullDecoding(t *testing.T) {
	found := map[string]int{}
	agents := testkit.Sample(t, []string{gen.Claude, gen.Codex, gen.Claude, gen.Codex}, 2)
	least, size := testkit.Cases(t, 12, 1), int64(testkit.Cases(t, 512<<10, 3<<20))
	for seed, agent := range agents {
		var b bytes.Buffer
		if err := gen.Write(&b, agent, uint64(seed)+20, size); err != nil {
			t.Fatal(err)
		}
		s := newShelf(t)
		k := s.put(agent, "one", transcript.Main, 1, b.String(), 300_000)
		in, acts := s.source(k), s.acts(k)
		tools, bases := []string{"nothing"}, []string{"nothing.here"}
		for _, a := range acts {
			if !slices.Contains(tools, a.Tool) {
				tools = append(tools, a.Tool)
			}
			for _, f := range a.files {
				if len(bases) < 12/least+1 && f != "." && !slices.Contains(bases, f) {
					bases = append(bases, f)
				}
			}
		}
		check := func(what, tool, base string) {
			var want []place
			for _, a := range acts {
				if (tool == "" || strings.EqualFold(a.Tool, tool)) && (base == "" || slices.Contains(a.files, base)) {
					want = append(want, a.place)
				}
			}
			hits, _ := s.find(search.Query{Tool: tool, Path: base}, in)
			if got := places(hits); !slices.Equal(want, got) {
				t.Fatalf("%s, seed %d, tool %q, path %q (-want +got):\n%s", agent, seed, tool, base, cmp.Diff(want, got))
			}
			found[what] += len(hits)
		}
		for _, tool := range tools {
			check("tools", strings.ToUpper(tool), "")
		}
		for _, base := range bases {
			check("paths", "", base)
			check("both", "edit", base)
			check("both", "apply_patch", base)
		}
	}
	if found["tools"] < 1000/least || found["paths"] < 30/least || found["both"] < 5/least {
		t.Errorf("%v: the test sees nothing", found)
	}
}

// A path is found however a command spells it.
func TestSpelledPaths(t *testing.T) {
	for name, c := range map[string]struct{ command, path string }{
		"plain":           {"rm old.txt", "old.txt"},
		"quotes":          {`rm "ol"d.'t'xt`, "old.txt"},
		"a blank":         {`rm old\ file.txt`, "old file.txt"},
		"a joined line":   {"rm ol\\\nd.txt", "old.txt"},
		"an n":            {"rm new/nnn", "nnn"},
		"a capital":       {"rm N/NEW", "N/NEW"},
		"a short name":    {"rm x", "x"},
		"not ASCII":       {"rm é日本", "é日本"},
		"a pattern":       {"rm old.txt", "o[kl]?*xt"},
		"a class":         {"rm '[slug].tsx'", "[slug].tsx"},
		"where it runs":   {"cd sub && rm old.txt", "/src/ink/sub"},
		"of the session":  {"rm old.txt", "/src/ink"},
		"moved":           {"mv old.txt dir/new.md", "dir/new.md"},
		"into a director": {"mv old.txt dir/", "dir/old.txt"},
	} {
		for i, spell := range []func(string) string{spelledJSON, spelledEscapes} {
			args := func(v string) string { return `{"cmd":` + v + `}` }
			command := spell(c.command)
			for agent, text := range map[string]string{
				"claude-code": called("c1", "Bash", `{"command":`+command+`}`) + returned("c1", "done"),
				"codex": `{"timestamp":"2026-02-03T04:05:06.000Z","type":"session_meta","payload":{"id":"x","cwd":"/src/ink"}}` + "\n" +
					`{"timestamp":"2026-02-03T04:05:06.000Z","type":"response_item","payload":{"type":"function_call","name":"exec_command","call_id":"c1","arguments":` + spell(args(command)) + "}}\n" +
					`{"timestamp":"2026-02-03T04:05:06.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"done"}}` + "\n",
			} {
				s := newShelf(t)
				k := s.put(agent, "one", transcript.Main, 1, text, 1<<20)
				if hits, _ := s.find(search.Query{Path: c.path}, s.source(k)); len(hits) != 2 {
					t.Errorf("%s, %s, spelling %d: %d hits of %q in %s, want 2", name, agent, i, len(hits), c.path, text)
				}
				if hits, _ := s.find(search.Query{Path: c.path + "x"}, s.source(k)); len(hits) != 0 {
					t.Errorf("%s, %s: what is not there gives %d hits", name, agent, len(hits))
				}
			}
		}
	}
}

func spelledJSON(text string) string {
	data, _ := json.Marshal(text)
	return string(data)
}

// spelledEscapes writes all but ASCII, and the letter o, as escapes.
func spelledEscapes(text string) string {
	var b strings.Builder
	for _, r := range spelledJSON(text) {
		if r >= 0x80 || r == 'o' {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// A result is found that stands far behind its call, in another frame, and only that of the last call of its ID.
func TestResultsFarFromTheirCalls(t *testing.T) {
	for _, far := range []int{100, 5000, 15_000} {
		text := called("c1", "Edit", `{"file_path":"/src/ink/old.txt"}`) + called("c2", "Bash", `{"command":"true"}`) +
			strings.Repeat(asked("soot"), far) + returned("c1", "updated") + returned("c2", "done")
		s := newShelf(t)
		k := s.put("claude-code", "one", transcript.Main, 1, text, 1<<20)
		for _, q := range []search.Query{{Tool: "edit"}, {Path: "old.txt"}, {Tool: "edit", Words: []string{"updated"}}} {
			hits, _ := s.find(q, s.source(k))
			if want := 2 - min(1, len(q.Words)); len(hits) != want || hits[0].Record != far+3 {
				t.Errorf("%d records later, %+v: %+v, want %d, the first in record %d", far, q, hits, want, far+3)
			}
		}
	}
}
