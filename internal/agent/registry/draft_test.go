package registry_test

import (
	"bytes"
	"path"
	"strings"
	"testing"
	"time"

	"ccd/internal/agent/registry"
	"ccd/internal/transcript"
)

// drafted returns a session with each kind of block.
func drafted(agent string) transcript.Draft {
	call, image := `{"cmd":"ls"}`, `"data:image/png;base64,aGk="`
	if agent == "codex" {
		call = `"{\"cmd\":\"ls\"}"`
	}
	at := time.Date(2026, 1, 15, 9, 0, 0, 0, time.UTC)
	return transcript.Draft{
		ID: "00000000-0000-4000-8000-000000000001", Title: "Mend <it>", Cwd: "/home/me/a b", Branch: "main", Start: at,
		Resumed: transcript.Resumed{ID: "source", Covers: 7},
		Messages: []transcript.Message{
			{Blocks: []transcript.Block{{Kind: transcript.Summary, Raw: transcript.Quote("ccd: Mend it\n\n" + transcript.SummaryStart + " …")}, {Kind: transcript.Image, Raw: []byte(image)}}},
			{Assistant: true, ID: "msg_1", Model: "model-1", Time: at.Add(time.Minute), Blocks: []transcript.Block{
				{Kind: transcript.Text, Raw: []byte(`"look"`)}, {Kind: transcript.Call, Raw: []byte(call), Call: "c1", Tool: "run"},
			}},
			{Time: at, Blocks: []transcript.Block{{Kind: transcript.Result, Raw: []byte(`"out"`), Call: "c1", Tool: "run", Failed: true}, {Kind: transcript.Human, Raw: []byte(`"go on"`)}}},
		},
	}
}

// TestWritersAreRead checks that a written draft decodes to what was drafted, that times never go back, and that the
// first record says that it is a copy.
func TestWritersAreRead(t *testing.T) {
	for _, f := range (registry.Table{}).All() {
		if f.Write == nil {
			continue
		}
		d := drafted(f.Agent)
		lines, place := f.Write(d), f.Place(&d, t.TempDir())
		if s, ok := (registry.Table{}).Find(f.Agent, "/r/"+path.Base(f.Roots(func(string) string { return "" }, "/")[0]), "/r/"+path.Base(f.Roots(func(string) string { return "" }, "/")[0])+"/"+place); !ok || s.ID != d.ID && s.ID != strings.TrimSuffix(path.Base(place), ".jsonl") || s.Class != transcript.Main {
			t.Errorf("%s: %s is found as %+v, %v", f.Agent, place, s, ok)
		}
		var kinds []string
		var last time.Time
		data := append(bytes.Join(lines, []byte("\n")), '\n')
		for r := range (registry.Table{}).NewDecoder(f.Agent, transcript.Main).Records(transcript.Segment{Data: data}) {
			if r.Broken || r.Unknown {
				t.Errorf("%s: record %d is not understood: %s", f.Agent, r.N, r.Raw)
			}
			if r.N == 1 && (r.Resumed == nil || *r.Resumed != (transcript.Resumed{ID: "source", Records: len(lines), Covers: 7})) {
				t.Errorf("%s: the first record tells %+v", f.Agent, r.Resumed)
			}
			if r.N > 1 && r.Resumed != nil {
				t.Errorf("%s: record %d tells it again", f.Agent, r.N)
			}
			if r.Usage != nil {
				t.Errorf("%s: record %d reports usage", f.Agent, r.N)
			}
			if !r.Time.IsZero() && r.Time.Before(last) {
				t.Errorf("%s: record %d goes back in time", f.Agent, r.N)
			}
			last = r.Time
			for _, it := range r.Items {
				kinds = append(kinds, it.Kind.String()+" "+it.Tool)
			}
		}
		if got := strings.Join(kinds, ", "); got != "summary , image , text , call run, result run, human " {
			t.Errorf("%s: got %s", f.Agent, got)
		}
	}
}

func TestRecordsOfACopyAreTheSameForTheSameSession(t *testing.T) {
	for _, f := range (registry.Table{}).All() {
		if f.Write == nil {
			continue
		}
		one, two := f.Write(drafted(f.Agent)), f.Write(drafted(f.Agent))
		if !bytes.Equal(bytes.Join(one, nil), bytes.Join(two, nil)) {
			t.Errorf("%s: written twice, it differs", f.Agent)
		}
	}
}
