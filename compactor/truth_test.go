package compactor_test

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"ccd/internal/testkit"
)

const corpus = "../../shared/corpus"

// plain is a simple reading of a transcript's JSON, independent of ccd's own: the strings of each record, and the calls.
type plain struct {
	strings [][]string
	agent   []bool // the agent says something in the record
	calls   []*plainCall
	byID    map[string]*plainCall
}

// plainCall is a call with its result; 0 is the number of a record that is missing.
type plainCall struct {
	at, result    int
	input, output string
	steps         []any // of a plan
	failed        bool
}

var exitForm = regexp.MustCompile(`(?s)(?:^.{0,99}(?:exited with code|[Ee]xit code:?) |"exit_code": ?)(\d+)`)

func readPlain(lines []string) *plain {
	p := &plain{strings: make([][]string, len(lines)), agent: make([]bool, len(lines)), byID: map[string]*plainCall{}}
	for i, line := range lines {
		var v any
		if json.Unmarshal([]byte(line), &v) != nil {
			v = line
		}
		p.walk(i, v, "")
	}
	return p
}

func str(v any) string { s, _ := v.(string); return s }

// walk takes what a value in a record says.
func (p *plain) walk(i int, v any, role string) {
	switch v := v.(type) {
	case string:
		p.strings[i] = append(p.strings[i], v)
		if inner := any(nil); strings.HasPrefix(v, "{") && json.Unmarshal([]byte(v), &inner) == nil {
			p.walk(i, inner, role)
		}
	case []any:
		for _, one := range v {
			p.walk(i, one, role)
		}
	case object:
		if r := str(v["role"]); r != "" {
			role = r
		}
		if str(v["model"]) == "<synthetic>" { // the client speaks
			role = ""
		}
		p.call(i, v, role)
		kind := str(v["type"])
		p.agent[i] = p.agent[i] || role == "assistant" && (kind == "text" || kind == "output_text")
		for name, one := range v {
			if name != "toolUseResult" && name != "data" {
				p.walk(i, one, role)
			}
		}
	}
}

// call takes a call or a result.
func (p *plain) call(i int, v object, role string) {
	id := str(v["call_id"]) + str(v["tool_use_id"]) + str(v["toolCallId"])
	switch kind := str(v["type"]); {
	case kind == "tool_use" || kind == "toolCall" || strings.HasSuffix(kind, "_call"):
		c := &plainCall{at: i + 1, input: all([]any{v["name"], v["input"], v["arguments"], v["action"]})}
		for _, name := range []string{"input", "arguments"} {
			in, _ := v[name].(object)
			if text := str(v[name]); text != "" {
				_ = json.Unmarshal([]byte(text), &in)
			}
			for _, list := range []string{"todos", "plan"} {
				if steps, ok := in[list].([]any); ok {
					c.steps = steps
				}
			}
		}
		p.calls = append(p.calls, c)
		p.byID[id+str(v["id"])] = c
		p.byID[id] = c
	case kind == "tool_result" || strings.HasSuffix(kind, "_call_output") || role == "toolResult" && v["toolCallId"] != nil:
		if c := p.byID[id]; c != nil && id != "" {
			c.result, c.output = i+1, all([]any{v["content"], v["output"]})
			status := exitForm.FindStringSubmatch(c.output)
			c.failed = v["is_error"] == true || v["isError"] == true || status != nil && status[1] != "0"
		}
	}
}

// all returns the strings in a list, each on a line.
func all(v []any) string {
	p := plain{strings: make([][]string, 1), agent: make([]bool, 1), byID: map[string]*plainCall{}}
	p.walk(0, v, "")
	return strings.Join(p.strings[0], "\n")
}

var colours = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// squash returns the letters and digits of a text, by which words are compared.
func squash(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, colours.ReplaceAllString(strings.ReplaceAll(text, `\x5c`, `\`), ""))
}

// leftOutCode stands in a quote in place of a block of code.
var leftOutCode = regexp.MustCompile(`\[code, [0-9]+ lines\]`)

// says reports whether a record has the words of a quote, of which parts may be left out.
func (p *plain) says(n int, quote string) bool {
	for fragment := range strings.SplitSeq(leftOutCode.ReplaceAllString(quote, "…"), "…") {
		if n < 1 || n > len(p.strings) || !slices.ContainsFunc(p.strings[n-1], func(s string) bool { return strings.Contains(squash(s), squash(fragment)) }) {
			return false
		}
	}
	return true
}

// calledAt returns the calls of which a record has the input or the result.
func (p *plain) calledAt(n int) (found []*plainCall) {
	for _, c := range p.calls {
		if c.at == n || c.result == n {
			found = append(found, c)
		}
	}
	return found
}

// ran reports whether a record has a call with the words of a command, except those with a path, that ended as is said.
func (p *plain) ran(n int, command, how string) bool {
	return slices.ContainsFunc(p.calledAt(n), func(c *plainCall) bool {
		for word := range strings.FieldsSeq(strings.TrimSuffix(command, "…")) {
			if !strings.ContainsAny(word, "/…") && !strings.Contains(squash(c.input), squash(word)) {
				return false
			}
		}
		return c.result == 0 == (how == "no result recorded") && (how != "exit 0" || !c.failed) && (!strings.HasPrefix(how, "exit ") || how == "exit 0" || c.failed)
	})
}

var (
	quoteForm  = regexp.MustCompile(`^(Task|Asked before|then|Your last words|Your last thought|The human's move; your turn ended) \(#(\d+)[^)]*\): "(.*)$`)
	moveForm   = regexp.MustCompile(`^(?:Your move: #|The human's move; your turn ended \(#)(\d+)`)
	replyForm  = regexp.MustCompile(`^(.*)" \(to your #(\d+): "(.*)$`)
	branchForm = regexp.MustCompile("branch `([^`]+)` \\(#(\\d+)\\)")
	headForm   = regexp.MustCompile("HEAD `([0-9a-f]+)`(?: \"(.*?)\")? \\(#(\\d+)\\)")
	pushForm   = regexp.MustCompile(`push (\[[^\]]*\]|[0-9a-f.]+)(?: of \S+)? to (\S+?)(?:, forced)? \(#(\d+)\)`)
	statusForm = regexp.MustCompile(`status: (?:.*; )?files ([^;]+?)(?: and \d+ more)? \(#(\d+)\)`)
	editedForm = regexp.MustCompile(`^Edited(?: since #(\d+))?(?:, in no commit seen)?: (.*)$`)
	fileForm   = regexp.MustCompile(`([^ ,][^,]*?) \(#(\d+)\)`)
	runForm    = regexp.MustCompile("^`?(.*)`(?:, (exit \\d+|no result recorded)| \\[exit hidden\\])?(?:: \"(.*)\")? \\(#(\\d+)\\)(?:: \"(.*)\")?$")
	planForm   = regexp.MustCompile(`^Plan \(#(\d+)\), (\d+) of (\d+) steps open: (.*?)(?:; and \d+ more)?(?:; the human spoke since, last #\d+.*)?$`)
	saidForm   = regexp.MustCompile(`"([^"]*)" \(#(\d+)\)`)
	refuseForm = regexp.MustCompile(`\(#(\d+)\): "([^"]*)"`)
	madeForm   = regexp.MustCompile(`(?m)^\[\S+(?: \(root-commit\))? ([0-9a-f]{7,40})\] `)
)

func number(text string) int { n, _ := strconv.Atoi(text); return n }

// falsehoods checks the handover of the records that p read, and counts its claims by kind.
func (p *plain) falsehoods(handover string, seen map[string]int) (wrong []string) {
	check := func(kind string, is bool, row string) {
		if seen[kind]++; !is {
			wrong = append(wrong, kind+": "+row)
		}
	}
	for row := range strings.SplitSeq(strings.TrimSpace(handover), "\n") {
		name, rest, _ := strings.Cut(row, ": ")
		if m := quoteForm.FindStringSubmatch(row); m != nil {
			if r := replyForm.FindStringSubmatch(m[3]); r != nil {
				check("reply", p.says(number(r[2]), r[3]), row)
				m[3] = r[1]
			}
			m[3], _, _ = strings.Cut(m[3], "\" (asked \"")
			if strings.HasPrefix(m[3], "/") { // of a command, its arguments stand by themselves
				_, m[3], _ = strings.Cut(m[3], " ")
			}
			check(m[1], p.says(number(m[2]), m[3]), row)
		}
		if m := moveForm.FindStringSubmatch(row); m != nil && !p.says(number(m[1]), "queue-operation") { // it was delivered later
			n := number(m[1])
			check("move", !slices.ContainsFunc(p.calls, func(c *plainCall) bool { return c.at > n }) && !slices.Contains(p.agent[min(n, len(p.agent)):], true), row)
		}
		switch {
		case name == "Git":
			p.git(row, check)
		case strings.HasPrefix(row, "Edited"):
			m := editedForm.FindStringSubmatch(row)
			for _, f := range fileForm.FindAllStringSubmatch(m[2], -1) {
				did := func(c *plainCall) bool {
					return !c.failed && strings.Contains(squash(c.input), squash(path.Base(f[1])))
				}
				check("edited", number(f[2]) > number(m[1]) && slices.ContainsFunc(p.calledAt(number(f[2])), did), row)
			}
		case strings.HasPrefix(row, "Checks"), strings.HasPrefix(row, "Failed"):
			for one := range strings.SplitSeq(rest, "; `") {
				if m := runForm.FindStringSubmatch(one); m != nil {
					check(strings.Fields(name)[0], p.ran(number(m[4]), m[1], m[2]) && p.says(number(m[4]), m[3]+m[5]) && !(row[0] == 'F' && p.passed(number(m[4]))), one)
				}
			}
		case strings.HasPrefix(row, "No check"):
			_, one, _ := strings.Cut(row, "before: ")
			m := runForm.FindStringSubmatch(one)
			check("no check", strings.HasSuffix(one, "…") || m != nil && p.ran(number(m[4]), m[1], m[2]) && p.says(number(m[4]), m[3]+m[5]), row)
		case strings.HasPrefix(row, "Last calls"):
			for one := range strings.SplitSeq(rest, "; ") {
				m := runForm.FindStringSubmatch(one)
				check("calls", m == nil || one[0] != '`' || p.ran(number(m[4]), m[1], m[2]), one)
			}
		case planForm.MatchString(row):
			check("plan", p.plan(planForm.FindStringSubmatch(row)), row)
		case strings.HasPrefix(row, "The human's standing"):
			for _, m := range saidForm.FindAllStringSubmatch(rest, -1) {
				check("standing", p.says(number(m[2]), m[1]), row)
			}
		case strings.HasPrefix(row, "Refused"):
			for _, m := range refuseForm.FindAllStringSubmatch(rest, -1) {
				check("refused", slices.ContainsFunc(p.calledAt(number(m[1])), func(c *plainCall) bool { return c.failed && p.says(c.result, m[2]) }), row)
			}
		}
	}
	return wrong
}

// git checks the line about git.
func (p *plain) git(row string, check func(string, bool, string)) {
	for _, m := range branchForm.FindAllStringSubmatch(row, 1) {
		check("branch", p.says(number(m[2]), m[1]), row)
	}
	for _, m := range headForm.FindAllStringSubmatch(row, 1) {
		newer := func(c *plainCall) bool {
			made := madeForm.FindAllStringSubmatch(c.output, -1)
			return c.result > number(m[3]) && strings.Contains(c.input, "git commit") && !strings.Contains(c.input, "cd ") && len(made) > 0 && made[len(made)-1][1] != m[1]
		}
		check("HEAD", p.says(number(m[3]), m[1]) && p.says(number(m[3]), m[2]) && !slices.ContainsFunc(p.calls, newer), row)
	}
	for _, m := range pushForm.FindAllStringSubmatch(row, 1) {
		line := regexp.MustCompile(regexp.QuoteMeta(m[1]) + `\s+\S+\s+->\s+` + regexp.QuoteMeta(m[2]))
		did := func(c *plainCall) bool { return strings.Contains(c.input, "push") && line.MatchString(c.output) }
		check("push", slices.ContainsFunc(p.calledAt(number(m[3])), did), row)
	}
	for _, m := range statusForm.FindAllStringSubmatch(row, 1) {
		for name := range strings.SplitSeq(m[1], ", ") {
			if how, file, _ := strings.Cut(name, " "); strings.HasSuffix(how, ":") { // a long status pads its words
				name = file
			}
			check("status", p.says(number(m[2]), name), row)
		}
	}
}

// passed reports whether the same command as that of a record went well later.
func (p *plain) passed(n int) bool {
	return slices.ContainsFunc(p.calledAt(n), func(c *plainCall) bool {
		return slices.ContainsFunc(p.calls, func(l *plainCall) bool { return l.result > n && !l.failed && l.input == c.input })
	})
}

// plan checks the line about the plan against the last call that wrote a whole one.
func (p *plain) plan(m []string) bool {
	at, open := p.calledAt(number(m[1])), 0
	if len(at) == 0 || at[0].steps == nil {
		return len(at) > 0
	}
	for _, one := range at[0].steps {
		if step, _ := one.(object); str(step["status"]) != "completed" {
			open++
		}
	}
	for step := range strings.SplitSeq(m[4], "; ") {
		if !p.says(at[0].at, strings.TrimSuffix(step, " [in progress]")) {
			return false
		}
	}
	newer := func(c *plainCall) bool { return c.at > at[0].at && len(c.steps) > 0 && c.result > 0 && !c.failed }
	return open == number(m[2]) && len(at[0].steps) == number(m[3]) && !slices.ContainsFunc(p.calls, newer)
}

// TestHandoverIsTrue: no line about a real session contradicts a simple reading of its records.
func TestHandoverIsTrue(t *testing.T) {
	if _, err := os.Stat(corpus); err != nil {
		t.Skip("the real sessions are not here: ", corpus)
	}
	var names []string
	for _, dir := range []string{"claude", "codex", "pi", "../more/claude", "../more/codex"} {
		more, _ := filepath.Glob(filepath.Join(corpus, dir, "*.jsonl"))
		names = append(names, more...)
	}
	cuts, seen := testkit.Cases(t, 3, 100), map[string]int{}
	for _, name := range names {
		data, err := os.ReadFile(name)
		testkit.Must(t, err)
		agent := map[string]string{"claude": "claude-code", "codex": "codex", "pi": "pi"}[filepath.Base(filepath.Dir(name))]
		lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
		for k := 1; k <= min(cuts, len(lines)); k++ {
			s := &story{agent: agent, lines: lines[:len(lines)*k/min(cuts, len(lines))]}
			made := s.made(t)
			if wrong := readPlain(s.lines).falsehoods(section(made, "Handover"), seen); len(wrong) > 0 || !made.Header.Verified {
				t.Errorf("%s to record %d: %s %s", name, len(s.lines), strings.Join(wrong, "\n"), made.Header.Reason)
			}
		}
	}
	for kind, least := range map[string]int{"Task": 40, "reply": 20, "branch": 30, "HEAD": 2, "edited": 50, "Checks": 9, "plan": 5, "calls": 60, "push": 1} {
		if seen[kind] < least {
			t.Errorf("only %d claims of kind %q", seen[kind], kind)
		}
	}
	t.Log(seen)
}

// TestFalsehoodsAreSeen: the check finds none in a true handover, and each that is put in.
func TestFalsehoodsAreSeen(t *testing.T) {
	s := claude("human Always look twice.", "last Yes.", "human "+task, "last Which date shall I take?", "human the local one", "todo completed: parse; pending: count => ok",
		"$ go test ./importer"+bad, "$ git push --force => no: never by force", "$ git commit -m 'Skip rows' && git push => [main 1a2b3c4] Skip rows\nTo x:y\n   aaaaaaa..1a2b3c4  main -> main",
		"$ git status --short =>  M rest.go", "edit a.go"+made, "agent Now the checks.", "$ go vet ./...; true => fine", "$ go build ./... => all 14 built")
	handover := s.handover(t)
	p := readPlain(s.lines)
	if wrong := p.falsehoods(handover, map[string]int{}); len(wrong) > 0 {
		t.Fatalf("%q in\n%s", wrong, handover)
	}
	for _, f := range []string{
		"Please make=>Please do", "before (#3=>before (#5", "Task (#5=>Task (#3", "\"the local one=>\"the other one", "to your #4=>to your #2", "twice.=>thrice.", "1 of 2=>2 of 2", "open: count=>open: parse it", "exit 1=>exit 0",
		"got 3 rows=>got 2 rows", "by force\"=>by night\"", "`1a2b3c4`=>`1a2b3c5`", "Skip rows=>Keep rows", "`main`=>`dev`", "to main (=>to dev (", "push aaaaaaa..1a2b3c4=>push [rejected]", "files M rest.go=>files M best.go",
		"a.go (#16=>b.go (#16", "since #15: a.go (#16=>since #16: a.go (#16", "14 built=>13 built", "go build=>go test", "Now the checks=>Now the tests",
	} {
		old, now, _ := strings.Cut(f, "=>")
		if lie := strings.Replace(handover, old, now, 1); lie == handover || len(p.falsehoods(lie, map[string]int{})) == 0 {
			t.Errorf("%q for %q is not seen in\n%s", now, old, lie)
		}
	}
}
