package compactor

import (
	"fmt"
	"strings"
	"time"
)

// everything is a session in which each strategy has something to do.
func everything() *script {
	s := newScript()
	s.used = 20000
	s.human("Count the cents. You must never use floats.")
	s.line("user", map[string]any{"role": "user", "content": []any{
		map[string]any{"type": "text", "text": "Look at this."},
		map[string]any{"type": "image", "source": map[string]any{"type": "base64", "media_type": "image/png", "data": strings.Repeat("iVBORw0KGgoAAAA", 200)}},
	}}, nil)
	s.do("TodoWrite", map[string]any{"todos": []any{map[string]any{"content": "count the cents", "status": "in_progress"}}}, "ok")
	s.do("Task", map[string]any{"description": "find floats", "prompt": "Find all."}, "Seven floats are left.")
	for i := range 12 {
		s.say(fmt.Sprintf("The export rounds parseRate%d twice, because the tariff of line %d is read first. %s", i, i,
			strings.Repeat("There is more to say about the weather of the day. ", 12)))
	}
	var walk strings.Builder
	for i := range 30 {
		fmt.Fprintf(&walk, "The clerk walked past window %c and looked at the weather of that day again. ", 'a'+i%26)
		if i == 17 {
			walk.WriteString("We decided to keep whole cents and not decimals. ")
		}
	}
	s.say(walk.String())
	s.human("Go on with the tariff.")
	var list strings.Builder
	for i := range 40 {
		fmt.Fprintf(&list, "Then there is the alphaBeta%d of the northern office to look at. ", i)
	}
	s.say(list.String())
	s.say("Use this instead of the loop, which the suite does not cover at all and which nobody has touched for years:\n```go\nfunc cents(s string) int { return parse(s) }\n```\n" +
		strings.Repeat("It is shorter and it says what it does. ", 60))
	for i := range 4 {
		s.do("WebFetch", map[string]any{"url": fmt.Sprintf("https://example.org/ferry%d", i), "prompt": "what"},
			strings.Repeat(fmt.Sprintf("The ferry of pier %d leaves when the tide allows it. ", i), 22))
	}
	s.read("/home/me/ledger/old.py", strings.Repeat("old = 1\n", 200))
	s.bash("make list", strings.Repeat("a line of the list\n", 150))
	s.do("Grep", map[string]any{"pattern": "float"}, strings.Repeat("ledger/money.py:12: float(x)\n", 60))
	s.fails("make all", "main.c:3: error: unknown type name 'foo'", 2)
	s.bash("make all", "fine")
	s.fails("make docs", "docs.c:9: error: no rule", 2)
	s.edit("/home/me/ledger/money.py", "float(x)", "cents(x)")
	s.at = s.at.Add(3 * time.Hour)
	for i := range 14 {
		s.round(2000 + i)
	}
	var errors strings.Builder
	for i := range 20 {
		fmt.Fprintf(&errors, "error: table %d is cut\n", i)
	}
	s.bash("make dump", strings.Repeat("a dump of the tables goes on\n", 2000)+errors.String()+strings.Repeat("a dump of the tables goes on\n", 2000))
	s.say("All cents are counted.")
	return s
}

// orchards is a session of so many requests, each with some work and an answer, none of which says what another does.
func orchards(n int) *script {
	s := newScript()
	for i := range n {
		path := fmt.Sprintf("/home/me/ledger/row%d.py", i)
		s.human(fmt.Sprintf("Prune row %d down to %d branches, and tell me what the keeper of gate %d said to it.", i, i+3, i*7))
		s.read(path, strings.Repeat(fmt.Sprintf("branch_%d = %d\n", i, i*3), 30))
		s.say(fmt.Sprintf("Row %d has %d branches too many, so I take off those of year %d.", i, i+2, 1900+i))
		s.edit(path, fmt.Sprintf("branch_%d = %d\n", i, i*3), fmt.Sprintf("twig_%d = %d\n", i, i))
		s.bash(fmt.Sprintf("prune --row %d", i), fmt.Sprintf("%d branches pruned in %d.2s", i+2, i))
		s.say(fmt.Sprintf("Row %d is pruned to %d branches. The keeper of gate %d had no objection.", i, i+3, i*7))
	}
	s.fails("prune --all", "error: the ladder is gone", 2)
	return s
}

// later lets hours of other work follow, so that strategies by age are due.
func (s *script) later() *script {
	s.at = s.at.Add(3 * time.Hour)
	for i := range 60 {
		s.bash(fmt.Sprintf("make target%d", i), strings.Repeat(fmt.Sprintf("building unit %d\n", i), 90))
	}
	return s
}

// remarks is a session of so many remarks in long lines, each unlike the others.
func remarks(n int) *script {
	s := newScript()
	s.human("Tell me about the orchard.")
	for i := range n {
		s.at = s.at.Add(10 * time.Minute)
		var b strings.Builder
		fmt.Fprintf(&b, "Tree %d is of sort %d, and the keeper of row %d decided in year %d that it stays.", i, i%37, i/9, 1900+i%99)
		for j := range 25 {
			fmt.Fprintf(&b, " It has %d apples on branch %d.", i*7+j, j)
		}
		s.say(b.String())
	}
	return s
}
