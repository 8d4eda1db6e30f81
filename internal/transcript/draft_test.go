package transcript

import (
	"bytes"
	"path"
	"strings"
	"testing"
	"time"
)

func TestCleanJSON(t *testing.T) {
	for in, want := range map[string]string{
		`"plain"`:               `"plain"`,
		` {"a":1} `:             `{"a":1}`,
		`"\ud83d\ude00"`:        `"\ud83d\ude00"`,
		`"\ud83d alone"`:        `"\ufffd alone"`,
		`"\ude00\ud83d"`:        `"\ufffd\ufffd"`,
		`"\\ud83d"`:             `"\\ud83d"`,
		`"\u0041\\\udc00"`:      `"\u0041\\\ufffd"`,
		"\"a\xffb\"":            "\"a\ufffdb\"",
		`{"\ud800":"\udfff x"}`: `{"\ufffd":"\ufffd x"}`,
		`no JSON`:               `"no JSON"`,
		``:                      `""`,
	} {
		if got := string(CleanJSON([]byte(in))); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

// drafted is a session with each kind of block.
func drafted(agent string) Draft {
	call, image := `{"cmd":"ls"}`, `{"type":"base64","media_type":"image/png","data":"aGk="}`
	if agent == "codex" {
		call, image = `"{\"cmd\":\"ls\"}"`, `"data:image/png;base64,aGk="`
	}
	at := time.Date(2026, 1, 15, 9, 0, 0, 0, time.UTC)
	return Draft{
		ID: "00000000-0000-4000-8000-000000000001", Title: "Mend <it>", Cwd: "/home/me/a b", Branch: "main", Start: at,
		Resumed: Resumed{ID: "source", Covers: 7},
		Messages: []Message{
			{Blocks: []Block{{Kind: Summary, Raw: Quote("ccd: Mend it\n\n" + SummaryStart + " …")}, {Kind: Image, Raw: []byte(image)}}},
			{Assistant: true, ID: "msg_1", Model: "model-1", Time: at.Add(time.Minute), Blocks: []Block{
				{Kind: Text, Raw: []byte(`"look"`)}, {Kind: Call, Raw: []byte(call), Call: "c1", Tool: "run"},
			}},
			{Time: at, Blocks: []Block{{Kind: Result, Raw: []byte(`"out"`), Call: "c1", Failed: true}, {Kind: Human, Raw: []byte(`"go on"`)}}},
		},
	}
}

// TestWritersAreRead: what is written decodes to what was drafted, at times that never go back, and the first record
// tells that it is a copy.
func TestWritersAreRead(t *testing.T) {
	for _, f := range Formats() {
		lines, place := f.Write(drafted(f.Agent))
		if s, ok := Find(f.Agent, "/r/"+path.Base(f.Roots(func(string) string { return "" }, "/")[0]), "/r/"+path.Base(f.Roots(func(string) string { return "" }, "/")[0])+"/"+place); !ok || s.ID != "00000000-0000-4000-8000-000000000001" || s.Class != Main {
			t.Errorf("%s: %s is found as %+v, %v", f.Agent, place, s, ok)
		}
		var kinds []string
		var last time.Time
		data := append(bytes.Join(lines, []byte("\n")), '\n')
		for r := range NewDecoder(f.Agent, Main).Records(Segment{Data: data}) {
			if r.Broken || r.Unknown {
				t.Errorf("%s: record %d is not understood: %s", f.Agent, r.N, r.Raw)
			}
			if r.N == 1 && (r.Resumed == nil || *r.Resumed != (Resumed{ID: "source", Records: len(lines), Covers: 7})) {
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
	for _, f := range Formats() {
		one, _ := f.Write(drafted(f.Agent))
		two, _ := f.Write(drafted(f.Agent))
		if !bytes.Equal(bytes.Join(one, nil), bytes.Join(two, nil)) {
			t.Errorf("%s: written twice, it differs", f.Agent)
		}
	}
}

func TestClaudeProject(t *testing.T) {
	for in, want := range map[string]string{
		"/home/me/a.b_c": "-home-me-a-b-c", `C:\src`: "C--src", "/p😀é": "-p---",
		"/home/me/" + strings.Repeat("deep/", 60): "-home-me-" + strings.Repeat("deep-", 38) + "d-30p046",
	} {
		if got := ClaudeProject(in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

func TestResumedIsReadOnlyWhereItIsWhole(t *testing.T) {
	for line, want := range map[string]bool{
		`{"type":"user","ccd":{"resumed":"x","records":3},"message":{"role":"user","content":"hi"}}`: true,
		`{"type":"user","ccd":{"resumed":"x"},"message":{"role":"user","content":"hi"}}`:             false,
		`{"type":"user","ccd":{"records":3},"message":{"role":"user","content":"hi"}}`:               false,
		`{"type":"user","ccd":"x","message":{"role":"user","content":"hi"}}`:                         false,
		`{"type":"user","message":{"role":"user","content":"{\"ccd\":{\"resumed\":\"x\"}}"}}`:        false,
	} {
		for r := range NewDecoder("claude-code", Main).Records(Segment{Data: []byte(line + "\n")}) {
			if got := r.Resumed != nil; got != want {
				t.Errorf("%s: got %v", line, got)
			}
		}
	}
}
