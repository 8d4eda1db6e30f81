package compactor

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
	"ccd/internal/session"
)

// How much of the places where a word of the focus occurs is shown.
const (
	mostPlaces  = 6   // of a word, the newest ones
	placeChars  = 160 // of the line with it
	aroundLines = 4   // before and after that line
	worthFocus  = 1000
	worthAround = 75
)

// focus makes a unit of each text in which a word of the focus occurs, the newest first. The first place of each word comes
// before anything else.
func (m *maker) focus() {
	found := make([]int, len(m.c.o.Focus)) // places of each word so far
	for e := int32(len(m.s.Events)) - 1; e >= 0 && len(found) > 0; e-- {
		ev := &m.s.Events[e]
		switch who, said := whose[ev.Kind]; {
		case m.had(ev):
		case said:
			m.place(found, e, ev.Ref, who, m.src.Text(ev.Ref))
		case ev.Kind == session.Did:
			m.place(found, e, ev.Call.Result, ev.Call.Tool+" gave", m.src.Outcome(ev.Call).Text)
			m.place(found, e, ev.Call.At, ev.Call.Tool, m.src.Text(ev.Call.At))
		}
	}
}

// whose says whose words an event has.
var whose = map[session.Kind]string{
	session.Asked: "the human asked", session.Queued: "the human said", session.Reason: "the human refused", session.Answer: "the human answered",
	session.Said: "the agent said", session.Summed: "the agent's summary",
}

// place makes the unit of one text, at the word of the focus that was found least so far.
func (m *maker) place(found []int, e int32, ref session.Ref, who, text string) {
	if ref.Zero() || !lexicon.HoldsOne(text, m.c.o.Focus) {
		return
	}
	lines := strings.Split(text, "\n")
	row, least, part := -1, mostPlaces, ""
	for i, w := range m.c.o.Focus {
		if found[i] >= mostPlaces {
			continue
		}
		for n, line := range lines {
			if at := strings.Index(lexicon.Lower(line), w); at >= 0 {
				if found[i] < least {
					row, least, part = n, found[i], around(line, utf8.RuneCountInString(lexicon.Lower(line)[:at]))
				}
				found[i]++
				break
			}
		}
	}
	if row < 0 {
		return
	}
	u := m.unit(focusPart, e)
	title := fmt.Sprintf("#%d %s:", ref.N(), mark.Inline(who, 60))
	worth := float64(worthFocus - least)
	if part == strings.TrimSpace(text) {
		u.add(title+" \""+mark.Inline(part, 0)+"\"\n", worth)
	} else {
		u.add(title+" \""+mark.Inline(part, 0)+"\" "+m.cut(ref), worth)
		quoted, _ := excerpt(strings.Join(lines[max(0, row-aroundLines):min(len(lines), row+aroundLines+1)], "\n"), 4*placeChars, nil)
		if quoted = quoted + m.cut(ref); lexicon.HoldsOne(quoted, m.c.o.Focus) {
			u.add(title+"\n"+quoted, worthAround)
		}
	}
	m.units = append(m.units, u)
}

// around returns the part of a line around char at.
func around(line string, at int) string {
	all := []rune(line)
	from := max(0, min(at-placeChars/3, len(all)-placeChars))
	part := strings.TrimSpace(string(all[from:min(len(all), from+placeChars)]))
	if from > 0 {
		part = "..." + part
	}
	if from+placeChars < len(all) {
		part += "..."
	}
	return part
}
