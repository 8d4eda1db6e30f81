package registry_test

import (
	"fmt"
	"strings"
	"testing"

	"ccd/internal/agent/generic"
	"ccd/internal/agent/registry"
	"ccd/internal/transcript"
)

var flat = generic.Agent{
	Roots: []string{"/srv/mine"}, Glob: "*/log.json*", Messages: "turns", Role: []string{"/kind"}, Content: []string{"/text", "/0/text"},
	Tool: []string{"/name"}, CallID: []string{"/call"}, Arguments: []string{"/in"}, Result: []string{"/out"}, Failed: []string{"/bad"},
	Parts: []string{"/parts"}, Time: []string{"/ts"}, Usage: []string{"/n/0", "/n/1"}, Cwd: []string{"/dir"},
}

// words returns each record in a few words.
func words(a generic.Agent, data string) (all []string) {
	table := registry.Table{}.With(generic.Row("mine", a))
	for r := range table.NewDecoder("mine", transcript.Main).Records(transcript.Segment{Data: []byte(data), Rest: true}) {
		var b strings.Builder
		fmt.Fprintf(&b, "%s", r.Type)
		if !r.Time.IsZero() {
			b.WriteString(r.Time.Format(" 15:04:05"))
		}
		for _, it := range r.Items {
			fmt.Fprintf(&b, " %s(%s", it.Kind, transcript.Original(it.Kind, it.Raw))
			if it.Tool != "" {
				fmt.Fprintf(&b, " by %s %s", it.Tool, it.Call)
			}
			if it.Failed {
				b.WriteString(" failed")
			}
			b.WriteString(")")
		}
		if r.Usage != nil {
			fmt.Fprintf(&b, " %d", r.Usage.Context)
		}
		if r.Unknown {
			b.WriteString(" unknown")
		}
		if r.UI {
			b.WriteString(" bookkeeping")
		}
		all = append(all, b.String())
	}
	return all
}

func TestRecordsOfGeneric(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{`{"kind":"human","ts":1789372800,"text":"Hello"}`, "human 08:00:00 human(Hello)"},
		{`{"kind":"ai","ts":1789372800123,"text":"Hi","n":[3,4]}`, "ai 08:00:00 text(Hi) 7"},
		{`{"kind":"ai","text":"Hi","n":[3,"many"]}`, "ai text(Hi) -1"},
		{`{"kind":"ai","text":"Hi","n":[3,null]}`, "ai text(Hi) 3"},
		{`{"kind":"user","text":"Hi","n":[3,4]}`, "user human(Hi)"},
		{`{"kind":"ai","name":"bash","call":"c1","in":{"command":"ls"}}`, `ai call({"command":"ls"} by bash c1)`},
		{`{"kind":"tool","name":"bash","call":"c1","text":"a.go"}`, "tool result(a.go by bash c1)"},
		{`{"kind":"observation","name":"bash","call":"c1","out":"no","bad":2}`, "observation result(no by bash c1 failed)"},
		{`{"kind":"agent","name":"bash","call":"c1","in":"ls","out":"a.go","bad":false}`, "agent call(ls by bash c1) result(a.go by bash c1)"},
		{`{"kind":"ai","parts":[{"text":"One"},{"name":"bash","call":"c2","in":"ls"},{"call":"c2","out":"x","bad":true}]}`, "ai text(One) call(ls by bash c2) result(x by bash c2 failed)"},
		{`{"kind":"ai","parts":["One"]}`, "ai unknown"},
		{`{"kind":"ai","text":[{"type":"text","text":"One"},{"type":"tool_use","id":"c3","name":"bash","input":{"command":"ls"}}]}`, `ai text(One) call({"command":"ls"} by bash c3)`},
		{`{"kind":"tide","text":"Hi"}`, "tide meta(Hi) unknown"},
		{`{"kind":7,"text":"Hi"}`, " meta(Hi) unknown"},
		{`{"text":"Hi"}`, " meta(Hi) unknown"},
		{`{"dir":"/srv"}`, " bookkeeping"},
		{`{"turns":[{"kind":"user","text":"Hi"},{"kind":"ai","text":"Ho"},{"dir":"/srv"}]}`, " human(Hi) text(Ho)"},
	} {
		if got := words(flat, c.line+"\n"); len(got) != 1 || got[0] != c.want {
			t.Errorf("%s\n%q, want %q", c.line, got, c.want)
		}
	}
	want := []string{"user human(Hi)", "ai text(Ho)"}
	inParts := flat
	inParts.Parts, inParts.Content = []string{"/text"}, []string{"/said", "/text"}
	noMember := flat
	noMember.Messages = ""
	for name, got := range map[string][]string{
		"an object on several lines": words(flat, "{\n  \"v\": 1,\n  \"turns\": [\n    {\"kind\": \"user\",\n \"text\": \"Hi\"},\n    {\"kind\": \"ai\", \"text\": \"Ho\"}\n  ]\n}\n"),
		"an array":                   words(noMember, `[{"kind":"user","text":"Hi"},{"kind":"ai","text":"Ho"}]`),
		"parts that are the content": words(inParts, "{\"kind\":\"user\",\"text\":[{\"said\":\"Hi\"}]}\n{\"kind\":\"ai\",\"text\":[{\"said\":\"Ho\"}]}\n"),
	} {
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestMatchOfGeneric(t *testing.T) {
	const id = "6f0d2b1e-93c4-4a7e-8b55-1d0c7e2fa901"
	row, usual := generic.Row("mine", flat), generic.Row("mine", generic.Agent{Roots: []string{"/r"}})
	for rel, want := range map[string][2]string{
		"a/log.jsonl": {"a/log", "a/log"}, "a/log.json": {"a/log.json", ""}, "a/b/log.jsonl": {"", "a/b/log"}, "a/.log.jsonl": {}, "x.txt": {},
		"a/b/run-" + id + ".jsonl": {"", id},
	} {
		for i, row := range []transcript.Format{row, usual} {
			if s, ok := row.Match("mine", rel); ok != (want[i] != "") || s.ID != want[i] {
				t.Errorf("%s: %q %v, want %q", rel, s.ID, ok, want[i])
			}
		}
	}
	if s, ok := generic.Row("mine", generic.Agent{Glob: "*.json"}).Match("mine", id+".json"); !ok || s.ID != id+".json" || !s.Unlined() {
		t.Errorf("%+v %v", s, ok)
	}
}

// TestPaths checks that Format.Paths changes with what changes how a record decodes, and not with the roots and the
// glob.
func TestPathsOfGeneric(t *testing.T) {
	moved, other := flat, flat
	moved.Roots, moved.Glob, other.Content = []string{"/elsewhere"}, "", []string{"/said"}
	was := generic.Row("mine", flat).Paths
	if got := generic.Row("mine", moved).Paths; got != was || was == "" {
		t.Errorf("%q, want %q", got, was)
	}
	if got := generic.Row("mine", other).Paths; got == was {
		t.Errorf("%q for other paths too", got)
	}
}
