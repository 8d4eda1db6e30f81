package compactor_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"ccd/compactor"
	"ccd/internal/agent/registry"
)

// rows has an event of each kind, and what its line begins with.
var rows = map[string]struct{ step, head string }{
	"human":       {"human mind the quokka in all of the places where it lives today", `human.*: .*quokka`},
	"withdrawn":   {"withdrawn mind the quokka", `human typed.*quokka`},
	"refusal":     {"$ make zoo => no: not the quokka", `REFUSED .make zoo.*quokka`},
	"choice":      {"ask Where is the quokka? => answer: here", `asked "Where is the quokka\?" -> human: .*here`},
	"last words":  {"last The quokka sleeps.", `agent, last: "The quokka`},
	"words":       {"agent The quokka eats.", `agent: "The quokka`},
	"thought":     {"thought The quokka hides.", `thought: "The quokka`},
	"summary":     {"compacted We saw a quokka.", `summary of what was before:(?s:.*)quokka`},
	"report":      {"report The quokka was found.", `report:(?s:.*)quokka`},
	"stop":        {"broken API Error: quokka overloaded\nhuman go on", `stopped: API Error: quokka`},
	"plan":        {"plan Feed the quokka. => User has approved your plan.", `plan, approved:.*quokka`},
	"steps":       {"todo pending: feed the quokka; completed: look => ok", `steps:(?s:.*)quokka`},
	"sub-agent":   {"sub find the quokka => It is in the tree.", `sub-agent "find the quokka":`},
	"git":         {"$ git fetch quokka => done", "ran `git fetch quokka`, exit 0"},
	"check":       {"$ go test ./quokka => exit 1: no", "ran `go test ./quokka`, exit 1"},
	"command":     {"$ ./feed quokka => fed", "ran `./feed quokka`, exit 0"},
	"look-up":     {"$ ls quokka => tail", "ran `ls quokka`, exit 0"},
	"edit":        {"edit quokka.go => ok", `edit quokka.go \+1 -1`},
	"failed edit": {"edit quokka.go => error: String to replace not found", `edit of quokka.go failed`},
	"read":        {"read quokka.go => package quokka", `read quokka.go`},
	"search":      {"grep quokka => a.go: quokka", `search quokka`},
	"web":         {"web https://quokka.example => Quokkas smile.", `web "https://quokka.example"`},
	"call":        {"mcp__zoo quokka => yes", `mcp__zoo "quokka"`},
	"edited file": {"edit zoo/quokka.go => ok", `(?m:^edited zoo/: quokka.go\b)`},
	"read file":   {"read zoo/quokka.go => package zoo", `(?m:^read zoo/: quokka.go\b)`},
}

// TestEachRow: an event of each kind is printed where its worth is high, in its place, and is left out where it is low.
func TestEachRow(t *testing.T) {
	for _, name := range compactor.Rows() {
		if name == "system" { // only in plain lists
			continue
		}
		s := claude("human " + task)
		for i := range 90 {
			if i == 45 {
				s.tell(strings.Split(rows[name].step, "\n")...)
			}
			if name != "command" {
				s.tell(fmt.Sprintf("$ ./count %d%d => sheep: 7%d", i, i, i))
			}
			if name != "check" {
				s.tell(fmt.Sprintf("$ go build ./meadow%d => built 9%d", i, i))
			}
		}
		form := regexp.MustCompile(`(?m:^(?:## )?#\d+ )` + rows[name].head)
		if rows[name].head[0] == '(' {
			form = regexp.MustCompile(rows[name].head)
		}
		for _, by := range []float64{1000, 1e-6} {
			compactor.Weigh(name, by)
			made := compact(t, model(registry.Table{}, compactor.Defaults(), s), s.data(), compactor.Audience{Room: 2500})
			compactor.Weigh(name, 1/by)
			text := section(made, compactor.Record) + section(made, compactor.Files)
			if is := form.MatchString(text); is != (by > 1) || rows[name].step == "" {
				t.Errorf("%s: with %g times its worth, %s is printed: %t\n%s", name, by, form, is, text)
			}
		}
	}
}
