package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"ccd/internal/agent/registry"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

// The words in the cases of testdata/whose: of a program, of the human, and of the human in every session.
const (
	forged  = "delete-the-backups"
	theirs  = "keep-the-tests"
	opening = "open-the-session"

	disclaimer = "the tool wrote this, not the human"
)

// whose is one case: a session in which a program imitates the human, or the human quotes a program.
type whose struct {
	agent, name, id, file, dir string
	said, claim                bool
}

// TestWhoseWords shows each case in every way that sessions are shown: a companion, a hook, a copy, search and MCP.
// Words of a program must not appear as the human's, and the human's must.
func TestWhoseWords(t *testing.T) {
	home := t.TempDir()
	env := []string{"HOME=" + home, "USERPROFILE=" + home}
	var cases []whose
	for _, agent := range []string{"claude", "codex"} {
		cases = append(cases, whoseCases(t, home, agent)...)
	}
	config := filepath.Join(home, "config.toml")
	put(t, config, "[agents]\nreach = \"all\"\n") // one server answers for all of them
	env = append(env, "CCD_CONFIG="+config)
	doneIn(t, env, "run", "--once", "-q")
	for _, c := range testkit.Sample(t, cases, 4) {
		t.Run(c.agent+"/"+c.name, func(t *testing.T) {
			t.Run("companion", func(t *testing.T) { c.inCompanion(t, env) })
			t.Run("hook", func(t *testing.T) { c.inHook(t, env) })
			t.Run("search", func(t *testing.T) { c.inSearch(t, env) })
			for _, to := range []string{"claude", "codex"} {
				t.Run("copy for "+to, func(t *testing.T) { c.inCopy(t, env, to) })
			}
		})
	}
}

// whoseCases writes the sessions of an agent's cases, each in its own project.
func whoseCases(t *testing.T, home, agent string) (cases []whose) {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", "whose", agent+".txtar"))
	must(t, err)
	for i, f := range a.Files {
		c := whose{
			agent: agent, name: f.Name, id: fmt.Sprintf("%08x-0000-4000-8000-00000000000%d", i+0x10000, len(agent)%2), dir: fmt.Sprintf("/src/%s%d", agent, i),
			said: bytes.Contains(f.Data, []byte(theirs)), claim: strings.HasPrefix(f.Name, "claim: "),
		}
		write := c.claudeLines
		c.file = filepath.Join(home, ".claude", "projects", fmt.Sprintf("-src-claude%d", i), c.id+".jsonl")
		if agent == "codex" {
			write = c.codexLines
			c.file = filepath.Join(home, ".codex", "sessions", "2026", "01", "15", "rollout-2026-01-15T10-00-00-"+c.id+".jsonl")
		}
		var lines bytes.Buffer
		for n, m := range write(t, string(f.Data)) {
			maps.Copy(m, map[string]any{"timestamp": fmt.Sprintf("2026-01-15T10:00:%02dZ", n)})
			must(t, json.NewEncoder(&lines).Encode(m))
		}
		put(t, c.file, lines.String())
		cases = append(cases, c)
	}
	return cases
}

// records decodes the lines of a case, after an opening by the human and an output that makes the session long enough
// to compact.
func records(t *testing.T, before, lines string) (all []map[string]any) {
	t.Helper()
	refusal := `The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). To tell you how to proceed, the user said:\n`
	var output strings.Builder
	for i := range 120 {
		fmt.Fprintf(&output, `%d of the build took %d ms\n`, i, i*i%97)
	}
	lines = strings.NewReplacer("OPENING", opening, "OUTPUT", output.String()).Replace(before) + strings.ReplaceAll(lines, "REFUSED", refusal)
	for line := range strings.Lines(lines) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, m)
	}
	return all
}

func (c *whose) claudeLines(t *testing.T, lines string) []map[string]any {
	all := records(t, `{"type":"user","message":{"content":"OPENING, please"}}
{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t0","name":"Bash","input":{"command":"make"}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t0","content":"OUTPUT"}]}}
`, lines+`{"type":"assistant","message":{"content":[{"type":"text","text":"That is all."}]}}`)
	for i, m := range all {
		maps.Copy(m, map[string]any{"uuid": fmt.Sprint("u", i), "parentUuid": fmt.Sprint("u", i-1), "sessionId": c.id, "cwd": c.dir, "version": "2.1.329"})
		if i == 0 {
			m["parentUuid"] = nil
		}
		message, ok := m["message"].(map[string]any)
		if !ok {
			continue
		}
		if message["role"] == nil {
			message["role"] = m["type"]
		}
		if m["type"] == "assistant" {
			message["id"] = fmt.Sprint("msg", i)
			if message["model"] == nil {
				message["model"] = "claude-demo"
			}
		}
	}
	return all
}

func (c *whose) codexLines(t *testing.T, lines string) []map[string]any {
	all := records(t, `{"type":"session_meta","payload":{"source":"cli","originator":"codex_cli_rs","cli_version":"0.169.0"}}
{"type":"message","role":"user","content":[{"type":"input_text","text":"OPENING, please"}]}
{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"make\"}","call_id":"c0"}
{"type":"function_call_output","call_id":"c0","output":"Exit code: 0\nWall time: 1.0 seconds\nOutput:\nOUTPUT"}
`, lines+`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"That is all."}]}`)
	for i, m := range all {
		if m["payload"] == nil {
			all[i] = map[string]any{"type": "response_item", "payload": m}
		}
	}
	maps.Copy(all[0]["payload"].(map[string]any), map[string]any{"id": c.id, "cwd": c.dir, "timestamp": "2026-01-15T10:00:00Z"})
	return all
}

// The lines of a companion with the human's words: those of the record, behind which they stand or below which they are quoted, and
// those of the handover.
var (
	spoken  = regexp.MustCompile(`^(?:## )?#-?\d+ (?:human[^"]*|REFUSED .*|asked ".*" -> human):(?: "(.*))?$`)
	shelled = regexp.MustCompile("^#-?\\d+ the human ran `(.*)`") // in the client's shell
	stated  = regexp.MustCompile(`^(?:Task|Asked before|then) \(#[^)]*\): "(.*?)"(?: \(to your #.*)?$`)
	refused = regexp.MustCompile(`\(#\d+\): "(.*?)"(?:; |$)`)
)

// humanWords returns what a companion shows as the human's: messages, reasons, answers. Quoted lines start with ">", so
// none of them starts or ends such a part.
func humanWords(companion string) string {
	var b strings.Builder
	human := false
	for line := range strings.Lines(companion) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, ">") {
			if human {
				b.WriteString(line + "\n")
			}
			continue
		}
		m := spoken.FindStringSubmatch(line)
		human = m != nil && m[1] == "" || human && line == "…" // a gap in a message
		for _, form := range []*regexp.Regexp{spoken, shelled, stated} {
			if m := form.FindStringSubmatch(line); m != nil {
				b.WriteString(m[1] + "\n")
			}
		}
		if strings.HasPrefix(line, "Refused, not run since") {
			for _, m := range refused.FindAllStringSubmatch(line, -1) {
				b.WriteString(m[1] + "\n")
			}
		} else if strings.HasPrefix(line, "The human's standing words") {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// check compares what is shown as the human's with the case.
func (c *whose) check(t *testing.T, human string) {
	t.Helper()
	switch {
	case strings.Contains(human, forged):
		t.Errorf("a program's words stand as the human's:\n%s", human)
	case !strings.Contains(human, opening):
		t.Errorf("the human's opening is missing:\n%s", human)
	case c.said && !strings.Contains(human, theirs):
		t.Errorf("the human's words are missing:\n%s", human)
	}
}

// controls are characters that other programs may take for a line end.
var controls = regexp.MustCompile(`[\x00-\x08\x0b-\x1f\x7f\x{85}\x{2028}\x{2029}]`)

func (c *whose) inCompanion(t *testing.T, env []string) {
	for _, form := range [][]string{{"--stdout"}, {"--stdout", "--max-tokens", "3000"}} {
		out, code := inProcess(t, env, append([]string{"compact", c.file}, form...)...)
		if code != 0 {
			t.Fatalf("compact: exit %d", code)
		}
		text := string(out)
		if !strings.Contains(text, "\n## Handover\n") {
			t.Fatalf("the session is too small to be compacted:\n%s", text)
		}
		c.check(t, humanWords(text))
		if at := controls.FindString(text); at != "" {
			t.Errorf("%q stands in the companion", at)
		}
	}
	doneIn(t, env, "compact", "-q", c.file)
}

// hook returns what a hook adds for the agent.
func (c *whose) hook(t *testing.T, env []string, session, source string) string {
	t.Helper()
	event, err := json.Marshal(map[string]any{
		"session_id": session, "transcript_path": strings.Replace(c.file, c.id, session, 1), "cwd": c.dir, "source": source,
	})
	must(t, err)
	agent := map[string]string{"claude": "claude-code", "codex": "codex"}[c.agent]
	r := asked(t.Context(), env, string(event), "hook", "SessionStart", "--agent", agent, "--within", "1m")
	if r.code != 0 {
		t.Fatalf("hook: exit %d, %s", r.code, r.err)
	}
	var answer struct {
		HookSpecificOutput struct{ AdditionalContext string }
	}
	if err := json.Unmarshal([]byte(r.out), &answer); err != nil {
		t.Fatalf("hook %s said %q: %v", source, r.out, err)
	}
	return answer.HookSpecificOutput.AdditionalContext
}

func (c *whose) inHook(t *testing.T, env []string) {
	c.check(t, humanWords(c.hook(t, env, c.id, "compact")))
	// After a resume, the agent still has the whole session in context.
	if human := humanWords(c.hook(t, env, c.id, "resume")); strings.Contains(human, forged) {
		t.Errorf("a program's words stand as the human's:\n%s", human)
	}
	offer := c.hook(t, env, "ffffffff"+c.id[8:], "startup")
	if strings.Contains(offer, forged) || !strings.Contains(offer, theirs) && !strings.Contains(offer, opening) && !strings.Contains(offer, "…") {
		t.Errorf("the last request is another:\n%s", offer)
	}
}

// inSearch checks the kind of each hit.
func (c *whose) inSearch(t *testing.T, env []string) {
	var human strings.Builder
	for _, word := range []string{opening, forged, theirs} {
		out, code := inProcess(t, env, "search", "--json", "--session", c.id, word)
		var hits []struct{ Kind, Snippet string }
		if err := json.Unmarshal(out, &hits); code != 0 && code != words.ExitNotFound || err != nil && len(out) > 0 {
			t.Fatalf("search: exit %d, %v", code, err)
		}
		for _, h := range hits {
			if h.Kind == "human" {
				human.WriteString(h.Snippet + "\n")
			}
		}
	}
	c.check(t, human.String())
}

// inCopy reads the human's words in a copy: user messages except the first, which summarizes what is not in the copy,
// and the results of calls.
func (c *whose) inCopy(t *testing.T, env []string, to string) {
	out, code := inProcess(t, env, "resume", "-q", "--json", "--as", to, "--max-tokens", "20000", c.id)
	if code != 0 {
		t.Fatalf("resume: exit %d", code)
	}
	var made struct{ Path string }
	must(t, json.Unmarshal(out, &made))
	human, results := copied(t, map[string]string{"claude": "claude-code", "codex": "codex"}[to], read(t, made.Path))
	if c.said { // in the copy they may be the result of a call
		human += strings.ReplaceAll(results, forged, "")
	}
	c.check(t, human)
	if out, code = inProcess(t, env, "compact", "-q", "--stdout", made.Path); code != 0 {
		t.Fatalf("compact the copy: exit %d", code)
	}
	if to == c.agent {
		c.check(t, humanWords(string(out)))
	}
	if c.claim && strings.Contains(results, forged) && !strings.Contains(results, disclaimer) {
		t.Errorf("a claim is not called one:\n%s", results)
	}
}

// copied returns the user's texts in a copy of either format, and the texts of results.
func copied(t *testing.T, agent string, lines []byte) (human, results string) {
	t.Helper()
	for r := range (registry.Table{}).NewDecoder(agent, transcript.Main).Records(transcript.Segment{Data: lines, Rest: true}) {
		for _, it := range r.Items {
			text := string(transcript.Original(it.Kind, it.Raw))
			switch {
			case it.Kind == transcript.Result:
				results += text + "\n"
			case it.Kind == transcript.Summary:
				human += humanWords(text)
			case it.Kind == transcript.Human && !strings.HasPrefix(text, "[ccd "):
				from, to := it.Client().Span(it.Frame, text)
				human += text[from:to] + "\n"
			}
		}
	}
	return human, results
}
