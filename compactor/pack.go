package compactor

import (
	"cmp"
	"slices"

	"ccd/compactor/lexicon"
)

// part is a section of a text.
type part int

const (
	handoverPart part = iota
	focusPart
	workPart
	currentPart
	decisionPart
	earlierPart
	filePart
)

// partNames are the headings, in the order of the text.
var partNames = [...]string{"Handover", "Focus", "Working set", "Current item", "Decisions", "Earlier items", "Files and how-to"}

// shares is how much of a text a part may take while others need the room.
var shares = [...]float64{focusPart: 1, workPart: 1, currentPart: 0.45, decisionPart: 0.22, earlierPart: 1, filePart: 0.16}

// unit is something to say, in forms from one line to whole.
type unit struct {
	part  part
	at    int32  // the event that it is about; the order of units within their part
	head  *unit  // must be shown if this one is, nil if none
	forms []form // each longer and worth less than the one before
	key   bool   // it is a key fact
	taken int    // how many forms are taken: the last one is shown
}

// form is one way to say a unit.
type form struct {
	text  string
	worth float64 // below 0: only as the head of what is shown
	chars int
}

// add appends a form if it says more than the one before it.
func (u *unit) add(text string, worth float64) {
	chars := lexicon.Chars(text)
	if n := len(u.forms); text == "" || n > 0 && chars <= u.forms[n-1].chars {
		return
	} else if n > 0 {
		worth = min(worth, u.forms[n-1].worth)
	}
	u.forms = append(u.forms, form{text, worth, chars})
}

// shown returns the text of the chosen form, "" if none.
func (u *unit) shown() string {
	if u.taken == 0 {
		return ""
	}
	return u.forms[u.taken-1].text
}

// candidate is a form of a unit that may be taken.
type candidate struct {
	u *unit
	k int
}

// pack takes forms by their worth while they fit into room chars. A form needs the one before it, and a step the head of its
// item. First each part keeps to its share, then what is left goes to any. What is worth less than least is not taken.
func pack(units []*unit, room int, least float64) {
	var all []candidate
	for _, u := range units {
		u.taken = 0
		for k := range u.forms {
			all = append(all, candidate{u, k})
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.u.forms[b.k].worth, a.u.forms[a.k].worth) })
	used := make([]int, len(partNames))
	left := room
	for _, limited := range []bool{true, false} {
		for _, c := range all {
			if c.u.taken != c.k || c.u.forms[c.k].worth < least {
				continue
			}
			cost := c.u.forms[c.k].chars
			if c.k > 0 {
				cost -= c.u.forms[c.k-1].chars
			}
			head := 0
			if h := c.u.head; h != nil && h.taken == 0 {
				if len(h.forms) == 0 {
					continue
				}
				head = h.forms[0].chars
			}
			p := c.u.part
			if cost+head > left || limited && float64(used[p]+cost+head) > shares[p]*float64(room) {
				continue
			}
			if head > 0 {
				c.u.head.taken = 1
			}
			c.u.taken++
			used[p] += cost + head
			left -= cost + head
		}
	}
}
