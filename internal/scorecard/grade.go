package scorecard

import (
	"iter"
	"regexp"
	"slices"
	"strings"

	"ccd/internal/mark"
)

// Restore gives back what an ID stands for: its parts as `ccd restore` prints them, of a range its lines. A part is
// valid until the next one. Where the original cannot be had, the sequence ends with an error, and nothing of it counts.
type Restore func(mark.ID) iter.Seq2[[]byte, error]

// Grade counts what became of the facts in a text. Each ID of the text is restored at most once; restore nil: none is.
func (f *Facts) Grade(text string, restore Restore) Grade {
	p := newPage(text)
	g := Grade{Chars: p.chars, Tokens: p.chars * 4 / 3, Classes: map[Class]Count{}, Traces: map[Class]Count{}}
	all := f.all()
	visible := p.visible(all)
	kept := held(all, visible, p.ids, restore)
	for class, facts := range all {
		var n Count
		for _, one := range facts {
			n.add(judge(one, visible[one], kept))
		}
		switch {
		case n.Facts == 0:
		case slices.Contains(Traces(), class):
			g.Traces[class] = n
		default:
			g.Classes[class] = n
		}
	}
	must := 0
	for _, class := range []Class{Asked, Edited, OpenErrors} {
		for _, one := range all[class] {
			must += len(one.text) + len(one.tail)
		}
	}
	g.Must = must*2 <= g.Chars
	g.means()
	return g
}

func (p *page) visible(all map[Class][]*fact) map[*fact]bool {
	visible := map[*fact]bool{}
	for class, facts := range all {
		for _, one := range facts {
			visible[one] = p.shows(class, one)
		}
	}
	return visible
}

func judge(one *fact, visible bool, kept map[uint64]bool) Count {
	n := Count{Facts: 1}
	switch {
	case visible:
		n.Visible = 1
	case slices.ContainsFunc(one.sources, func(s source) bool { return kept[s.raw] || kept[s.seen] || kept[s.line] }):
		n.Recoverable = 1
	default:
		n.Lost = 1
	}
	if one.strong {
		n.Strong, n.StrongSeen = 1, n.Visible
	}
	return n
}

// held tells which sources of the facts that are not visible the IDs give back. A fact is held by the bytes that it was
// taken from, so equal bytes hold it.
func held(all map[Class][]*fact, visible map[*fact]bool, ids []mark.ID, restore Restore) map[uint64]bool {
	kept := map[uint64]bool{}
	for _, facts := range all {
		for _, one := range facts {
			for _, s := range one.sources {
				if !visible[one] {
					kept[s.raw], kept[s.seen], kept[s.line] = false, false, false
				}
			}
		}
	}
	if len(kept) == 0 || restore == nil {
		return kept
	}
	for _, id := range ids {
		var got []uint64
		for part, err := range restore(id) {
			if err != nil {
				got = nil
				break
			}
			if k := mark.Sum(part).Key(); !kept[k] {
				if _, wanted := kept[k]; wanted {
					got = append(got, k)
				}
			}
		}
		for _, k := range got {
			kept[k] = true
		}
	}
	return kept
}

// shows reports whether a fact is visible.
func (p *page) shows(class Class, one *fact) bool {
	switch class {
	case Edited, Read, Deleted:
		return slices.ContainsFunc(one.forms, p.path)
	case Contents:
		told := func(form string) bool { return p.beside(form, tellsLines(one.status)) }
		return slices.ContainsFunc(one.forms, told) || p.holds(one.tail) // the content itself
	case Images:
		return slices.Contains(p.ids, one.id)
	case Numbers, Identifiers, URLs, Hashes, Hits:
		return p.word(one.text)
	case Plan:
		return p.beside(one.text, tellsState(one.status))
	}
	if one.status != "" {
		return p.beside(one.text, tellsStatus(one.status))
	}
	return p.holds(one.text) && (one.tail == "" || p.holds(one.tail)) && (one.id == "" || slices.Contains(p.ids, one.id))
}

var (
	exits = regexp.MustCompile(`(?i)(?:->|→|=>|exit(?:ed|s)?(?: with)?(?: code| status)?[:= ]*|rc[:= ]*|status[:= ]*|code[:= ]*|[(\[]|: )\s*(\d+)\b`)
	good  = regexp.MustCompile(`(?i)\b(?:ok|success(?:ful|fully)?|succeeded|passed|passes|done)\b|✓|✔|✅`)
	bad   = regexp.MustCompile(`(?i)\bfail(?:ed|s|ure)?\b|\berror\b|✗|✘|❌|non-?zero`)
)

// tellsStatus returns whether a line tells that a command ended with the status.
func tellsStatus(status string) func(string) bool {
	return func(line string) bool {
		for _, m := range exits.FindAllStringSubmatch(line, -1) {
			if m[1] == status || status == "failed" && m[1] != "0" {
				return true
			}
		}
		return status == "0" && good.MatchString(line) || status == "failed" && bad.MatchString(line)
	}
}

var planStates = map[string]*regexp.Regexp{
	"completed":   regexp.MustCompile(`(?i)\[x\]|\b(?:completed?|done|finished)\b|✓|✔|✅`),
	"in_progress": regexp.MustCompile(`(?i)\[[>~/.*-]\]|in[_ -]progress|\b(?:current|doing|started|now|next|working)\b`),
	"pending":     regexp.MustCompile(`(?i)\[ ?\]|\b(?:pending|to ?do|open|next|remaining|not started|later)\b`),
}

// tellsState returns whether a line tells that a plan item is in the state.
func tellsState(state string) func(string) bool {
	re := planStates[state]
	return func(line string) bool { return re == nil || re.MatchString(line) }
}

// tellsLines returns whether a line tells a number of lines.
func tellsLines(n string) func(string) bool {
	return func(line string) bool { return strings.Contains(" "+line, " "+n+" lines") }
}
