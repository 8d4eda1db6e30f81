package hook

import (
	"fmt"
	"slices"
	"strings"

	"ccd/compactor"
	"ccd/internal/mark"
)

// rule is how a part of State is shortened, by what its heading begins with.
type rule struct {
	title  string
	weight int   // its share where not all parts fit
	order  order // which of its entries are kept first
}

// order is which entries of a part matter most.
type order uint8

const (
	firstFirst  order = iota // what the compactor put first
	newestFirst              // the last ones
	ends                     // the last one, the first one, then back from the last
	openFirst                // of a plan: what is not done
)

// rules are the parts of State in the order in which an agent needs them.
func rules() []rule {
	return []rule{
		{"Asked", 90, ends},
		{answersBelow, 24, newestFirst},
		{"Task given", 34, firstFirst},
		{"Corrections", 8, newestFirst},
		{"Plan", 9, openFirst},
		{"Open errors", 36, firstFirst},
		{"Files", 26, firstFirst},
		{"Commands", 26, firstFirst},
		{"Decisions", 8, newestFirst},
		{"Last answer", 14, firstFirst},
		{"Sub-agents", 3, newestFirst},
		{"Errors made good", 4, firstFirst},
	}
}

// answersBelow names the answers that stand below the messages of Asked: a part of their own, with an entry for each of
// those of Asked, some of them empty.
const answersBelow = "answers"

// part is one heading of State with what stands below it.
type part struct {
	rule
	heading string
	entries []string // each a line with the lines that belong to it
	from    int      // offsets in State, of the heading and of what follows the part
	to      int
	shown   []string // of each entry
	note    string   // that it is shortened
}

func (p *part) text() string { return p.heading + strings.Join(p.shown, "") + p.note }

// fit is State within room units: each part whole where it needs less than its share, else its most useful entries and
// the lines of the companion where all of them stand.
func (c companion) fit(agent string, room int) string {
	parts := partsOf(c.state)
	left, weight := room, 0
	for _, p := range parts {
		p.shown = p.entries
		weight += p.weight
	}
	todo := parts
	for again := true; again; { // whole is what needs less than its share; what it leaves goes to the others
		again = false
		var rest []*part
		for _, p := range todo {
			if n := units(agent, p.text()); n*weight <= left*p.weight {
				left, weight, again = left-n, weight-p.weight, true
			} else {
				rest = append(rest, p)
			}
		}
		todo = rest
	}
	for _, p := range todo {
		share := left * p.weight / weight
		c.shorten(agent, p, share)
		left, weight = left-units(agent, p.text()), weight-p.weight
	}
	return together(parts)
}

// together joins the parts, each answer below its message.
func together(parts []*part) string {
	var b strings.Builder
	for n, p := range parts {
		if p.title == answersBelow {
			continue
		}
		if n+1 < len(parts) && parts[n+1].title == answersBelow && len(p.shown) > 0 {
			for i, entry := range p.shown {
				if p.shown[i] = entry; entry != "" && i < len(parts[n+1].shown) {
					p.shown[i] += parts[n+1].shown[i]
				}
			}
		}
		b.WriteString(p.text())
	}
	return b.String()
}

// partsOf cuts State at its headings, and puts the parts into the order of the rules; unknown ones come last.
func partsOf(state string) []*part {
	var found []*part
	at := 0
	for line := range strings.Lines(state) {
		title, isTitle := strings.CutPrefix(line, "### ")
		if isTitle || len(found) == 0 {
			found = append(found, &part{rule: rule{weight: 1}, from: at})
		}
		p := found[len(found)-1]
		at += len(line)
		p.to = at
		switch {
		case isTitle:
			p.heading, p.rule = line, ruleOf(title)
		case len(p.entries) > 0 && continues(line):
			p.entries[len(p.entries)-1] += line
		default:
			p.entries = append(p.entries, line)
		}
	}
	var all []*part
	for _, r := range append(rules(), rule{}) {
		for _, p := range found {
			if p.title == r.title {
				all = append(all, p)
			}
			if r.title == answersBelow && p.title == "Asked" {
				all = append(all, p.answers(r))
			}
		}
	}
	return all
}

// answers takes the answers out of the entries of Asked.
func (p *part) answers(r rule) *part {
	a := &part{rule: r, entries: make([]string, len(p.entries))}
	for i, entry := range p.entries {
		if at := strings.Index(entry, "\n"+answerLine); at >= 0 {
			p.entries[i], a.entries[i] = entry[:at+1], entry[at+1:]
		}
	}
	return a
}

// answerLine begins the line below a human message that tells the answer; quoted lines begin otherwise.
const answerLine = "   #"

func ruleOf(title string) rule {
	for _, r := range rules() {
		if strings.HasPrefix(title, r.title) {
			return r
		}
	}
	return rule{weight: 1}
}

// continues reports whether a line belongs to the one before: it is indented, quoted or blank.
func continues(line string) bool {
	return line[0] == ' ' || line[0] == '>' || line == "\n"
}

// shorten takes a part to within room units; to nothing where there is no room for anything of use.
func (c companion) shorten(agent string, p *part, room int) {
	if p.title == answersBelow {
		p.shortenAnswers(agent, room)
		return
	}
	p.note = fmt.Sprintf("- (shortened: lines %d-%d of the companion have all)\n", c.line(p.from), c.line(p.to)-1)
	room -= units(agent, p.heading+p.note)
	p.shown = make([]string, len(p.entries))
	found := false
	for n, i := range p.preferred() {
		entry := p.entries[i]
		if need := units(agent, entry); need > room {
			entry = ""
			if n == 0 || room > minEntry {
				entry = shortEntry(agent, p.entries[i], room)
			}
		}
		if entry == "" {
			break
		}
		p.shown[i], found = entry, true
		room -= units(agent, entry)
	}
	if room < 0 || !found {
		p.heading, p.shown, p.note = "", nil, ""
	}
}

// answerSteps are the units of an answer that are shown. Each gets the first step before any gets the next.
var answerSteps = []int{200, 400, 800, 1600, maxContext}

// shortenAnswers gives the newest answers the most.
func (p *part) shortenAnswers(agent string, room int) {
	p.shown = make([]string, len(p.entries))
	for _, step := range answerSteps {
		for _, i := range p.preferred() {
			short := shortAnswer(agent, p.entries[i], step)
			if n := units(agent, short) - units(agent, p.shown[i]); n > 0 && n <= room {
				p.shown[i] = short
				room -= n
			}
		}
	}
}

// shortAnswer is an answer in about so many units: of one that is quoted whole its best sentences; of chosen sentences the
// first, the last, and those that follow the first.
func shortAnswer(agent, answer string, room int) string {
	if units(agent, answer) <= room {
		return answer
	}
	const between = " ... "
	line, quoted, _ := strings.Cut(answer, "\n")
	if quoted != "" {
		whole, err := mark.Unquote(quoted)
		if err != nil {
			return ""
		}
		best := inline(compactor.Excerpt(whole, room-len(line)-len(": ")), 0)
		if best = tagless(best); best == "" || units(agent, best) > room {
			return ""
		}
		return strings.TrimSuffix(line, "]") + ": " + best + "]\n"
	}
	start, chosen, _ := strings.Cut(strings.TrimSuffix(line, "]"), ": ")
	all := strings.Split(chosen, between)
	shown := make([]string, len(all))
	room -= units(agent, start+": ]\n")
	for n := range all {
		i := n
		if n > 0 {
			i = (n + len(all) - 2) % len(all) // 0, the last one, 1, 2 ...
		}
		if need := units(agent, all[i]+between); need <= room {
			shown[i] = all[i]
			room -= need
		}
	}
	shown = slices.DeleteFunc(shown, func(s string) bool { return s == "" })
	if len(shown) == 0 {
		shown = []string{cut(agent, all[0], room-2) + " …"}
	}
	return start + ": " + strings.Join(shown, between) + "]\n"
}

// minEntry is the room from which on it is worth to show an entry in part, in units.
const minEntry = 240

// shortEntry is the beginning of an entry: its lines, the last of them cut. It ends with an ellipsis, quoted where that
// line is.
func shortEntry(agent, entry string, room int) string {
	var b strings.Builder
	room -= len(" …\n")
	for line := range strings.Lines(entry) {
		if n := units(agent, line); n <= room {
			b.WriteString(line)
			room -= n
			continue
		}
		if room > 60 {
			b.WriteString(strings.TrimRight(cut(agent, strings.TrimSuffix(line, "\n"), room), " ") + " …\n")
		}
		break
	}
	return b.String()
}

// preferred are the places of the entries, the most useful first.
func (p *part) preferred() []int {
	n := len(p.entries)
	at := make([]int, 0, n)
	for i := range n {
		if p.order == firstFirst {
			at = append(at, i)
		} else {
			at = append(at, n-1-i)
		}
	}
	switch p.order {
	case ends:
		if n > 2 {
			copy(at[2:], at[1:n-1])
			at[1] = 0
		}
	case openFirst:
		at = at[:0]
		for _, done := range []bool{false, true} {
			for i := range n {
				if strings.HasPrefix(p.entries[i], "- [x]") == done {
					at = append(at, i)
				}
			}
		}
	}
	return at
}

// line is the number of the companion's line at an offset of State.
func (c companion) line(at int) int { return c.first + strings.Count(c.state[:at], "\n") }
