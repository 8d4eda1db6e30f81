package scorecard

import (
	"iter"
	"regexp"
	"slices"
	"strings"

	"ccd/internal/mark"
)

// Restore returns the original of an ID: its parts as `ccd restore` prints them, or the lines of a range. A part is
// valid until the next one. If the original cannot be restored, the sequence ends with an error, and none of its parts
// count.
type Restore func(mark.ID) iter.Seq2[[]byte, error]

// Grade counts which facts a text shows, which its IDs restore, and which are lost. It restores each ID of the text at
// most once; with a nil restore, none.
func (f *Facts) Grade(text string, restore Restore) Grade {
	p := newPage(text)
	g := Grade{Chars: p.chars, Tokens: p.chars * 4 / 3, Classes: map[Class]Count{}, Traces: map[Class]Count{}}
	all := f.all()
	visible := map[*fact]bool{}
	for class, facts := range all {
		for _, one := range facts {
			visible[one] = p.shows(class, one)
		}
	}
	kept := restorable(all, visible, p.ids, restore)
	for class, facts := range all {
		var n Count
		for _, one := range facts {
			n.Add(judge(one, visible[one], kept))
		}
		switch {
		case n.Facts == 0:
		case slices.Contains(Traces(), class):
			g.Traces[class] = n
		default:
			g.Classes[class] = n
		}
	}
	g.means()
	return g
}

func judge(one *fact, visible bool, kept map[uint64]bool) Count {
	n := Count{Facts: 1, Weight: one.weight}
	if n.Weight == 0 {
		n.Weight = 1
	}
	switch {
	case visible:
		n.Visible, n.Shown = 1, n.Weight
	case slices.ContainsFunc(one.sources, func(s source) bool { return kept[s.raw] || kept[s.seen] || kept[s.line] }):
		n.Recoverable = 1
	default:
		n.Lost = 1
	}
	return n
}

// restorable returns which sources of the facts that are not visible the IDs restore. A source is known by its hash, so
// equal bytes anywhere else count too.
func restorable(all map[Class][]*fact, visible map[*fact]bool, ids []mark.ID, restore Restore) map[uint64]bool {
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

// How far apart the two parts of a fact may be, in bytes.
const (
	nearAnswer  = 500 // a question and its answer
	nearReason  = 400 // a refused call and what the person said about it
	nearOutcome = 300 // a command and its result
	nearSubject = 100 // a commit and its subject
)

// shows reports whether the page shows a fact.
func (p *page) shows(class Class, one *fact) bool {
	switch class {
	case Asked:
		if one.tail == "" && length(one.text) < leastSentence {
			return p.alone(one.text)
		}
		if p.holds(one.whole) {
			return true
		}
	case Edited:
		return p.affected(one.forms, wasEdited())
	case Deleted:
		return p.affected(one.forms, wasDeleted())
	case Contents:
		told := func(form string) bool { return p.beside(form, tellsLines(one.status)) }
		return slices.ContainsFunc(one.forms, told) || p.holds(one.tail) // the content itself
	case Images:
		return slices.Contains(p.ids, one.id)
	case Numbers, Identifiers, URLs, Hashes:
		return p.tells(one)
	case Questions, Refusals, Outcomes, Git:
		if one.tail != "" {
			within := map[Class]int{Questions: nearAnswer, Refusals: nearReason, Outcomes: nearOutcome, Git: nearSubject}
			return p.near(one.text, one.tail, within[class])
		}
	}
	if re := states[one.status]; re != nil {
		return p.beside(one.text, re().MatchString)
	}
	if one.status != "" && class != Plan {
		return p.beside(one.text, tellsStatus(one.status))
	}
	return p.holds(one.text) && (one.tail == "" || p.holds(one.tail)) && (one.id == "" || slices.Contains(p.ids, one.id))
}

var (
	exits = lazy(`(?i)(?:->|→|=>|exit(?:ed|s)?(?: with)?(?: code| status)?[:= ]*|rc[:= ]*|status[:= ]*|code[:= ]*|[(\[]|: )\s*(\d+)\b`)
	good  = lazy(`(?i)\b(?:ok|success(?:ful|fully)?|succeeded|passed|passes|done)\b|✓|✔|✅`)
	bad   = lazy(`(?i)\bfail(?:ed|s|ure)?\b|\berror\b|✗|✘|❌|non-?zero`)
)

// tellsStatus returns a function that reports whether a line says that a command ended with the status.
func tellsStatus(status string) func(string) bool {
	return func(line string) bool {
		for _, m := range exits().FindAllStringSubmatch(line, -1) {
			if m[1] == status || status == "failed" && m[1] != "0" {
				return true
			}
		}
		return status == "0" && good().MatchString(line) || status == "failed" && bad().MatchString(line)
	}
}

// states are the ways in which a text gives the state of a plan item, of a call, of a plan that the person saw, or of
// the repository.
var states = map[string]func() *regexp.Regexp{
	"completed":   lazy(`(?i)\[x\]|\b(?:completed?|done|finished)\b|✓|✔|✅`),
	"in_progress": lazy(`(?i)\[[>~/.*-]\]|in[_ -]progress|\b(?:current|doing|started|now|next|working)\b`),
	"pending":     lazy(`(?i)\[ ?\]|\b(?:pending|to ?do|open|next|remaining|not started|later)\b`),
	"approved":    lazy(`(?i)\b(?:approv|accept|agreed|confirm)|批准|同意|承認`),
	"refused":     lazy(`(?i)\b(?:refus|reject|den(?:y|ied)|declin|not allow|doesn't want|interrupt|abort)|拒绝|拒否`),
	"branch":      lazy(`(?i)\b(?:branch|rama|zweig|branche)\b|ветк|分支|ブランチ|\x00\s+[0-9a-f]{7,40}\]`),
	"pushed":      lazy(`(?i)\bpush`),
	"stash":       lazy(`(?i)\bstash`),
	"uncommitted": lazy(`(?i)\b(?:uncommitted|not committed|modified|untracked|unstaged|staged|dirty|changed|deleted|new file)\b|^ ?[MADRU?]{1,2} |未提交`),
}

// tellsLines returns a function that reports whether a line gives this number of lines.
func tellsLines(n string) func(string) bool {
	return func(line string) bool { return strings.Contains(" "+line, " "+n+" lines") }
}
