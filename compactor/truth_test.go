package compactor_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ccd/internal/testkit"
)

const corpus = "../../shared/corpus"

// replayed are real sessions; each is cut at three places.
var replayed = []replay{
	{"claude-code", "claude/asx-small.jsonl"},
	{"claude-code", "claude/entire-06-9f0cb7b375-0.jsonl"},
	{"claude-code", "claude/entire-37-995ebed6e4-2.jsonl"},
	{"claude-code", "claude/entire-37-995ebed6e4-3.jsonl"},
	{"claude-code", "claude/entire-5c-1039ad85f4-0.jsonl"},
	{"claude-code", "claude/entire-60-fd31fcf44f-0.jsonl"},
	{"claude-code", "claude/entire-9b-3838281539-0.jsonl"},
	{"claude-code", "claude/entire-d5-99f72ee73a-0.jsonl"},
	{"claude-code", "claude/entire-ee-e770a56988-0.jsonl"},
	{"codex", "codex/ocodex-rollout-2025-09-06T18-48-47-6f7de846-1612-418c-8235-386f4eba829e.jsonl"},
	{"codex", "codex/moonmind-rollout-2025-11-13T18-21-11-019a802a-aab1-7c31-9831-d2510c7a74a2.jsonl"},
	{"codex", "codex/ocodex-rollout-2025-08-19T08-25-08-38b123ff-933b-4dfe-bd12-d42671fcb25f.jsonl"},
	{"codex", "codex/ocodex-rollout-2025-08-24T10-37-46-16853d29-f44c-4c97-8230-73c5f07bcfdf.jsonl"},
	{"codex", "codex/ocodex-rollout-2025-08-26T23-04-09-5ef950e8-2ee2-4b38-be79-fda4378483a6.jsonl"},
	{"pi", "pi/pimono-large-session.jsonl"},
}

type replay struct{ agent, name string }

// plain is a simple reading of a transcript's JSON, independent of ccd's own.
type plain struct {
	users   []told // texts in the user's role
	calls   []told
	results []told
	branch  string // newest
	at      int
}

// told is one text of a record; of a call its input, of a result its output.
type told struct {
	n        int
	id, name string
	text     string
	input    any
	failed   bool
}

func readPlain(lines []string) *plain {
	p := &plain{}
	for i, line := range lines {
		var v any
		if json.Unmarshal([]byte(line), &v) != nil {
			continue
		}
		if branch := find(v, "gitBranch"); branch != "" && branch != "HEAD" {
			p.branch, p.at = branch, i+1
		}
		top, _ := v.(object)
		if meta, ok := top["payload"].(object); ok {
			top = meta
		}
		if git, ok := top["git"].(object); ok {
			p.branch, p.at = str(git["branch"]), i+1
		}
		p.walk(i+1, v, "")
	}
	return p
}

// children returns the values in a list or an object.
func children(v any) []any {
	if o, ok := v.(object); ok {
		return slices.Collect(maps.Values(o))
	}
	list, _ := v.([]any)
	return list
}

// find returns the first string with a name in a value.
func find(v any, name string) string {
	if o, ok := v.(object); ok && str(o[name]) != "" {
		return str(o[name])
	}
	for _, one := range children(v) {
		if text := find(one, name); text != "" {
			return text
		}
	}
	return ""
}

func str(v any) string { s, _ := v.(string); return s }

// walk takes what a value and the values in it say.
func (p *plain) walk(n int, v any, role string) {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			p.walk(n, one, role)
		}
	case object:
		if r := str(v["role"]); r != "" {
			role = r
		}
		kind := str(v["type"])
		switch {
		case kind == "tool_use" || kind == "toolCall" || kind == "function_call" || kind == "custom_tool_call" || kind == "local_shell_call":
			one := told{n: n, id: str(v["id"]) + str(v["call_id"]), name: str(v["name"])}
			if str(v["call_id"]) != "" {
				one.id = str(v["call_id"])
			}
			for _, name := range []string{"input", "arguments", "action"} {
				if one.input = v[name]; one.input != nil {
					break
				}
			}
			if text, ok := one.input.(string); ok {
				var inner any
				if json.Unmarshal([]byte(text), &inner) == nil {
					one.input = inner
				}
			}
			one.text = all(one.input)
			p.calls = append(p.calls, one)
			return
		case kind == "tool_result":
			p.results = append(p.results, told{n: n, id: str(v["tool_use_id"]), text: all(v["content"]), failed: v["is_error"] == true})
			return
		case kind == "function_call_output" || kind == "custom_tool_call_output":
			p.results = append(p.results, told{n: n, id: str(v["call_id"]), text: all(v["output"])})
			return
		case role == "toolResult":
			p.results = append(p.results, told{n: n, id: str(v["toolCallId"]), text: all(v["content"]), failed: v["isError"] == true})
			return
		case role == "user" && v["content"] != nil:
			p.users = append(p.users, told{n: n, text: all(v["content"])})
		case kind == "queue-operation":
			p.users = append(p.users, told{n: n, text: str(v["content"])})
		case str(v["prompt"]) != "":
			p.users = append(p.users, told{n: n, text: str(v["prompt"])})
		}
		for name, one := range v {
			if name != "toolUseResult" && name != "data" {
				p.walk(n, one, role)
			}
		}
	}
}

// all returns the strings in a value, one after the other; a string that is JSON is taken apart.
func all(v any) (text string) {
	if s, ok := v.(string); ok {
		var inner any
		if text = s + "\n"; strings.HasPrefix(s, "{") && json.Unmarshal([]byte(s), &inner) == nil {
			text += all(inner)
		}
	}
	for _, one := range children(v) {
		text += all(one)
	}
	return text
}

func (p *plain) call(n int) []told {
	var found []told
	for _, c := range p.calls {
		if c.n == n {
			found = append(found, c)
		}
	}
	return found
}

func (p *plain) result(id string) (told, bool) {
	for _, r := range p.results {
		if r.id == id {
			return r, true
		}
	}
	return told{}, false
}

// flat returns a text in the form in which words are compared.
func flat(text string) string {
	for _, c := range []string{`\\x1b`, `\x1b`, "\x1b"} {
		text = strings.ReplaceAll(text, c, "")
	}
	return strings.Join(strings.Fields(strings.ReplaceAll(strings.ReplaceAll(text, `\x5c`, `\`), `[\ccd`, "[ccd")), " ")
}

// holds reports whether a text has the words of a quote, which may be shortened.
func holds(text, quote string) bool {
	quote, _, _ = strings.Cut(flat(quote), "…")
	return strings.Contains(flat(text), quote)
}

var (
	branchForm = regexp.MustCompile("^Git: branch `([^`]+)`")
	commitForm = regexp.MustCompile("last commit seen `([0-9a-f]+)`.*\\(#(\\d+)\\), (no push seen|pushed)")
	fileForm   = regexp.MustCompile("`([^`]+)` \\(#(\\d+)\\)")
	runForm    = regexp.MustCompile("`([^`]+)` \\(#(\\d+)(, [^)]*)?\\)(: \"(.*?)\")?(; |$)")
	sinceForm  = regexp.MustCompile(`^Run since the last change \(#(\d+)\): `)
	taskForm   = regexp.MustCompile(`^(Task|Then).* \(#(\d+).*\):$`)
	planForm   = regexp.MustCompile(`^Plan, unfinished as of #(\d+) \((\d+) open of (\d+)[^)]*\): (.*)$`)
	taskID     = regexp.MustCompile(`#\d+`)
	madeForm   = regexp.MustCompile(`(?m)^\[\S+(?: HEAD)?(?: \(root-commit\))? ([0-9a-f]{7,40})\] `)
)

func number(text string) int { n, _ := strconv.Atoi(text); return n }

// edited reports whether a call changes files by its own kind.
func edited(c told) bool {
	switch strings.ToLower(c.name) {
	case "edit", "write", "multiedit", "notebookedit", "apply_patch":
		return true
	}
	return strings.Contains(c.text, "*** Begin Patch")
}

// falsehoods checks the handover of the records that p read, and counts its claims by kind.
func (p *plain) falsehoods(handover string, seen map[string]int) (wrong []string) {
	fail := func(form string, args ...any) { wrong = append(wrong, fmt.Sprintf(form, args...)) }
	rows := strings.Split(handover, "\n")
	for i, row := range rows {
		if m := taskForm.FindStringSubmatch(row); m != nil && strings.Contains(handover, "\n> ") {
			quote := ""
			for _, next := range rows[i+1:] {
				if text, ok := strings.CutPrefix(next, "> "); ok {
					quote = text
					break
				}
			}
			seen["task"]++
			if strings.HasPrefix(quote, "/") { // a command: its arguments
				_, quote, _ = strings.Cut(quote, " ")
			}
			ok := false
			for _, u := range p.users {
				ok = ok || u.n == number(m[2]) && holds(u.text, quote[:min(len(quote), 40)])
			}
			if !ok {
				fail("record %s does not ask %q", m[2], quote)
			}
		}
		if m := branchForm.FindStringSubmatch(row); m != nil {
			seen["branch"]++
			ok := m[1] == p.branch
			for _, r := range p.results {
				ok = ok || r.n > p.at && (strings.Contains(r.text, "'"+m[1]+"'") || strings.Contains(r.text, "On branch "+m[1]) || strings.Contains(r.text, "["+m[1]+" "))
			}
			if !ok {
				fail("the branch is %q, not %q", p.branch, m[1])
			}
		}
		if m := commitForm.FindStringSubmatch(row); m != nil {
			seen["commit"]++
			last, pushes, from := "", 0, 0
			for _, r := range p.results {
				for _, made := range madeForm.FindAllStringSubmatch(r.text, -1) {
					for _, c := range p.calls {
						if c.id == r.id && strings.Contains(c.text, "commit") {
							last, from = made[1], c.n
						}
					}
				}
			}
			for _, c := range p.calls {
				if strings.Contains(c.text, "push") && c.n >= from {
					pushes++
				}
			}
			if last != m[1] {
				fail("the last commit is %q, not %q", last, m[1])
			}
			if m[3] == "pushed" && pushes == 0 {
				fail("nobody pushed %s", m[1])
			}
		}
		if rest, ok := strings.CutPrefix(row, "Not committed (no commit by the agent seen since): "); ok {
			for _, m := range fileForm.FindAllStringSubmatch(rest, -1) {
				seen["open"]++
				p.open(m[1], number(m[2]), fail)
			}
		}
		if m := sinceForm.FindStringSubmatch(row); m != nil {
			rest := row[len(m[0]):]
			none := strings.HasPrefix(rest, "none; last before it ")
			for _, one := range runForm.FindAllStringSubmatch(strings.TrimPrefix(rest, "none; last before it "), -1) {
				seen["run"]++
				p.ran(one, fail)
				if before := number(one[2]) < number(m[1]); before != none {
					fail("the run #%s is on the wrong side of the edit #%s", one[2], m[1])
				}
			}
			for _, c := range p.calls {
				r, ok := p.result(c.id)
				if file := find(c.input, "file_path"); ok && !r.failed && c.n > number(m[1]) && edited(c) && file != "" && !strings.HasPrefix(file, "/tmp") && strings.Contains(r.text, "has been updated") && strings.Contains(handover, "`"+path.Base(file)) {
					fail("#%d edits %s after the last edit #%s", c.n, file, m[1])
				}
			}
		}
		if rest, ok := strings.CutPrefix(row, "Failed last, no success seen: "); ok {
			for _, one := range runForm.FindAllStringSubmatch(rest, -1) {
				seen["failed"]++
				p.ran(one, fail)
			}
		}
		if m := planForm.FindStringSubmatch(row); m != nil {
			seen["plan"]++
			p.plan(m, fail)
		}
	}
	return wrong
}

// open checks that a file was changed by the call of record n, and taken by no later commit that names it.
func (p *plain) open(file string, n int, fail func(string, ...any)) {
	base := path.Base(file)
	named := false
	for _, c := range p.call(n) {
		named = named || strings.Contains(c.text, strings.TrimSuffix(base, "…"))
	}
	if !named {
		fail("#%d does not change %s", n, file)
	}
	added := false
	for _, c := range p.calls {
		if r, ok := p.result(c.id); !ok || c.n <= n || edited(c) || r.failed {
			continue
		}
		for _, part := range strings.FieldsFunc(c.text, func(r rune) bool { return strings.ContainsRune("&;|\n", r) }) {
			words := strings.Fields(part)
			if i := strings.Index(part, "git add "); i >= 0 {
				added = added || strings.Contains(part, base) || strings.Contains(part+" ", " -A ") || strings.Contains(part+" ", " . ") || strings.Contains(part+" ", " -u ")
			}
			if len(words) > 1 && words[0] == "git" && words[1] == "commit" && (added || strings.Contains(part, " -a")) {
				fail("the commit of #%d took %s of #%d", c.n, file, n)
			}
		}
	}
}

// ran checks a line about a run: that its command was called, and that its result says what is quoted.
func (p *plain) ran(m []string, fail func(string, ...any)) {
	command, n, state, said := m[1], number(m[2]), m[3], m[5]
	for _, c := range p.call(n) {
		r, ok := p.result(c.id)
		if ok == strings.Contains(state, "no result") {
			continue
		}
		word, _, _ := strings.Cut(strings.TrimSuffix(command, "…"), " ")
		if !strings.Contains(c.text, word) {
			continue
		}
		if said != "" && !holds(r.text, said) {
			continue
		}
		if state == ", exit 0" && (r.failed || strings.Contains(r.text, "Exit code 1")) {
			fail("#%d failed", n)
		}
		if state == ", exit 0" && strings.Contains(c.text, "|") && !strings.Contains(c.text, "||") && !strings.Contains(c.text, "pipefail") && !strings.ContainsAny(c.text, `'"`) {
			fail("the status of #%d is hidden: %s", n, c.text)
		}
		return
	}
	fail("#%d did not run %q with %q", n, command, said)
}

// plan checks a line about the plan against the last call that wrote it.
func (p *plain) plan(m []string, fail func(string, ...any)) {
	open := map[string]bool{}
	ids := map[string]string{} // of tasks that were made one by one
	for _, c := range p.calls {
		in, _ := c.input.(object)
		if c.name == "TaskCreate" {
			r, _ := p.result(c.id)
			if id := taskID.FindString(r.text); id != "" {
				ids[id] = flat(str(in["subject"]))
				open[ids[id]] = true
			}
		}
		if status, id := str(in["status"]), ids["#"+str(in["taskId"])]; c.name == "TaskUpdate" && status != "" {
			if delete(open, id); status != "completed" && status != "deleted" {
				open[id] = true
			}
		}
		steps, ok := in["todos"].([]any)
		if !ok {
			steps, ok = in["plan"].([]any)
		}
		if !ok {
			continue
		}
		open = map[string]bool{}
		for _, one := range steps {
			step, _ := one.(object)
			if str(step["status"]) != "completed" {
				open[flat(str(step["content"])+str(step["step"]))] = true
			}
		}
	}
	if len(open) != number(m[2]) {
		fail("%d steps are unfinished, not %s", len(open), m[2])
	}
	for _, text := range strings.Split(m[4], "; ") {
		text = strings.TrimSuffix(text, " (in progress)")
		if strings.HasSuffix(text, " more") || strings.Contains(text, "…") {
			continue
		}
		if !open[flat(text)] && !strings.Contains(fmt.Sprint(open), flat(text)) {
			fail("%q is not unfinished", text)
		}
	}
}

// TestHandoverIsTrue: no line about a real session contradicts a simple reading of its records.
func TestHandoverIsTrue(t *testing.T) {
	if _, err := os.Stat(corpus); err != nil {
		t.Skip("the real sessions are not here: ", corpus)
	}
	cuts := testkit.Cases(t, 3, 40)
	seen := map[string]int{}
	sessions := replayed
	if testkit.Full() {
		for agent, dir := range map[string]string{"claude-code": "claude", "codex": "codex"} {
			more, _ := filepath.Glob(filepath.Join(corpus, "../more", dir, "*.jsonl"))
			for _, name := range more {
				rel, _ := filepath.Rel(corpus, name)
				sessions = append(sessions, replay{agent, rel})
			}
		}
	}
	for _, one := range sessions {
		data, err := os.ReadFile(filepath.Join(corpus, one.name))
		if err != nil {
			t.Fatal(err)
		}
		all := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
		for k := 1; k <= cuts; k++ {
			s := &story{agent: one.agent, lines: all[:len(all)*k/cuts]}
			made := s.made(t)
			handover := section(made, "Handover")
			if wrong := readPlain(s.lines).falsehoods(handover, seen); len(wrong) > 0 || !made.Header.Verified {
				t.Errorf("%s to record %d: %q %s\n%s", one.name, len(s.lines), wrong, made.Header.Reason, handover)
			}
		}
	}
	for kind, least := range map[string]int{"task": 40, "branch": 30, "commit": 1, "open": 50, "run": 10, "failed": 1, "plan": 5} {
		if seen[kind] < least {
			t.Errorf("only %d claims of kind %q", seen[kind], kind)
		}
	}
	t.Log(seen)
}
