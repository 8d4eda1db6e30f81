package hook

import (
	"fmt"
	"strings"
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
		{"Asked", 34, ends},
		{"Task given", 34, firstFirst},
		{"Corrections", 12, newestFirst},
		{"Plan", 9, openFirst},
		{"Open errors", 14, firstFirst},
		{"Files", 11, firstFirst},
		{"Commands", 9, firstFirst},
		{"Decisions", 11, newestFirst},
		{"Last answer", 6, firstFirst},
		{"Sub-agents", 3, newestFirst},
		{"Errors made good", 1, firstFirst},
		{"Named besides", 1, firstFirst},
	}
}

// part is one heading of State with what stands below it.
type part struct {
	rule
	heading string
	entries []string // each a line with the lines that belong to it
	from    int      // offsets in State, of the heading and of what follows the part
	to      int
	text    string // as it is shown
}

// fit is State within room units: each part whole where it needs less than its share, else its most useful entries and
// the lines of the companion where all of them stand.
func (c companion) fit(agent string, room int) string {
	parts := partsOf(c.state)
	left, weight := room, 0
	for _, p := range parts {
		p.text = p.whole()
		weight += p.weight
	}
	todo := parts
	for again := true; again; { // whole is what needs less than its share; what it leaves goes to the others
		again = false
		var rest []*part
		for _, p := range todo {
			if n := units(agent, p.text); n*weight <= left*p.weight {
				left, weight, again = left-n, weight-p.weight, true
			} else {
				rest = append(rest, p)
			}
		}
		todo = rest
	}
	for _, p := range todo {
		share := left * p.weight / weight
		p.text = c.shorten(agent, p, share)
		left, weight = left-units(agent, p.text), weight-p.weight
	}
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.text)
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
		}
	}
	return all
}

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

func (p *part) whole() string { return p.heading + strings.Join(p.entries, "") }

// shorten is a part within room units; "" where there is no room for anything of use.
func (c companion) shorten(agent string, p *part, room int) string {
	note := fmt.Sprintf("- (shortened: lines %d-%d of the companion have all)\n", c.line(p.from), c.line(p.to)-1)
	room -= units(agent, p.heading+note)
	shown := make([]string, len(p.entries))
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
		shown[i] = entry
		room -= units(agent, entry)
	}
	text := strings.Join(shown, "")
	if room < 0 || text == "" {
		return ""
	}
	return p.heading + text + note
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
