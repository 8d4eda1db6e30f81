//go:build rig && linux

package clients

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	gocmp "github.com/google/go-cmp/cmp"

	"ccd/internal/testkit"
)

// proved logs what a case has shown, unless it failed.
func (p *place) proved(format string, args ...any) {
	p.t.Helper()
	if !p.t.Failed() {
		p.t.Logf(format, args...)
	}
}

// begin starts a session and returns its requests and ID.
func (p *place) begin(a agent, say string, turns ...turn) ([]*request, string) {
	p.t.Helper()
	before := p.sessions(a.transcripts)
	all := p.asks(a, a.ask(nil, say), turns...)
	for _, path := range p.sessions(a.transcripts) {
		if !slices.Contains(before, path) {
			return all, idOf(path)
		}
	}
	p.t.Fatalf("%s left no transcript", a.title)
	return nil, ""
}

var uuid = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// idOf returns the session ID in a transcript's name; for Gemini CLI it is the whole name.
func idOf(path string) string {
	return cmp.Or(uuid.FindString(filepath.Base(path)), uuid.FindString(filepath.Base(filepath.Dir(path))), strings.TrimSuffix(filepath.Base(path), ".jsonl"))
}

// goOn sends one more prompt to a session.
func (p *place) goOn(a agent, id, say string, turns ...turn) []*request {
	p.t.Helper()
	return p.asks(a, a.ask(a.resumed(id), say), turns...)
}

func (p *place) transcript(a agent, id string) string {
	p.t.Helper()
	for _, path := range p.sessions(a.transcripts) {
		if idOf(path) == id {
			return path
		}
	}
	p.t.Fatalf("no transcript of %s", id)
	return ""
}

// working returns n turns of an agent at work: it thinks sometimes, says what it does, reads parts of the project's
// files, sometimes two at once, and runs commands that fail. Each output has about 5 KB.
func (a agent) working(from, n int) (turns []turn) {
	for i := from; i < from+n; i++ {
		said := reply{
			text:  fmt.Sprintf("Step %d: I look at part %d of the ledger.", i, i/4),
			calls: []call{a.shell(fmt.Sprintf("sed -n '%d,%dp' pkg/ledger%d.go", 100*(i/4%10)+1, 100*(i/4%10)+130, i%4))},
		}
		switch i % 6 {
		case 1:
			said.thinking = fmt.Sprintf("Part %d comes next.", i/4)
		case 3:
			said.calls = append(said.calls, a.shell(fmt.Sprintf("git log --stat | head -%d", i)))
		case 5:
			said.calls = []call{a.shell(fmt.Sprintf("echo 'FAIL: TestBooked%d: sum is %d cents' >&2; exit 1", i, i*37))}
		}
		turns = append(turns, func(*request) reply { return said })
	}
	return turns
}

// saved copies the home and returns a function that restores it, including times.
func (p *place) saved() (restore func()) {
	p.t.Helper()
	kept := p.t.TempDir()
	p.must("cp", "-a", p.home, kept)
	return func() {
		p.t.Helper()
		testkit.Must(p.t, os.RemoveAll(p.home))
		p.must("/bin/cp", "-a", filepath.Join(kept, filepath.Base(p.home)), p.home)
	}
}

// What differs between equal runs: IDs, which are numbered in order of appearance, and times.
var (
	changingIDs = []*regexp.Regexp{
		uuid,
		regexp.MustCompile(`_scripted_\d+`),
		regexp.MustCompile(`\b[0-9a-f]{16}\b`),
		regexp.MustCompile(`Chunk ID: [0-9a-f]+`),
	}
	changingTimes = []*regexp.Regexp{
		regexp.MustCompile(`20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z?`),
		regexp.MustCompile(`_unix_ms\\*":\d+`),
		regexp.MustCompile(`Wall time: [0-9.]+`),
	}
)

// besides matches what Codex finds out about git at its start, sometimes too late for its first request.
var besides = regexp.MustCompile(`\\"workspaces\\":\{.*?\}\},`)

// normal returns the body of a request with IDs, times and the path of HOME replaced.
func (p *place) normal(r *request) string {
	p.t.Helper()
	var body any
	testkit.Must(p.t, json.Unmarshal(r.raw, &body))
	raw, err := json.MarshalIndent(body, "", " ") // the order of keys does not matter
	testkit.Must(p.t, err)
	text := besides.ReplaceAllString(strings.ReplaceAll(string(raw), p.home, "$HOME"), "")
	for _, re := range changingTimes {
		text = re.ReplaceAllString(text, "<time>")
	}
	for n, re := range changingIDs {
		seen := map[string]string{}
		text = re.ReplaceAllStringFunc(text, func(s string) string {
			if seen[s] == "" {
				seen[s] = fmt.Sprintf("<%d:%d>", n, len(seen))
			}
			return seen[s]
		})
	}
	return text
}

// same fails the test if two runs sent different bodies.
func (p *place) same(what string, before, after []*request) {
	p.t.Helper()
	normal := func(all []*request) (texts []string) {
		for _, r := range all {
			texts = append(texts, p.normal(r))
		}
		return texts
	}
	if diff := gocmp.Diff(normal(before), normal(after)); diff != "" {
		p.t.Errorf("%s (-without ccd +with it):\n%s", what, diff)
	}
}

// holds reports whether a part of the request contains the text.
func (r *request) holds(text string) bool {
	return slices.ContainsFunc(r.parts, func(p part) bool { return strings.Contains(p.text, text) })
}

// results returns the outputs of the tool calls in a request, in order.
func (r *request) results() (all []string) {
	for _, p := range r.parts {
		if p.kind == "result" {
			all = append(all, p.text)
		}
	}
	return all
}

// last returns the newest request.
func last(all []*request) *request { return all[len(all)-1] }
