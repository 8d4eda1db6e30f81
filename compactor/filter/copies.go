package filter

import (
	"strings"

	"ccd/compactor/lexicon"
)

const (
	DupChars   = 200  // minimum chars of exact and near copies
	nearLines  = 5    // number of first lines, without blank ones, that identify candidates
	nearShared = 3    // of them that must be shared
	nearLength = 0.7  // minimum ratio of lengths
	nearLike   = 0.85 // minimum Jaccard index of the lines
	nearTries  = 16   // newer texts with the same first line that are compared
)

// lines are the distinct lines of a text in small letters, without white space around and blank ones; first, the first of
// them.
type lines struct {
	all   map[string]bool
	first []string
}

func linesOf(text string) (l lines) {
	l.all = map[string]bool{}
	for line := range strings.Lines(text) {
		line = strings.Join(strings.Fields(lexicon.Lower(line)), " ")
		if line != "" && len(l.first) < nearLines {
			l.first = append(l.first, line)
		}
		if line != "" {
			l.all[line] = true
		}
	}
	return l
}

// alike returns the Jaccard index of two texts, 0..1.
func (l *lines) alike(o *lines) float64 {
	both := 0
	for line := range l.all {
		if o.all[line] {
			both++
		}
	}
	return float64(both) / float64(max(1, len(l.all)+len(o.all)-both))
}

// nearCopies finds for each text a newer near copy: one with enough of the same first lines, a similar length and similar lines.
// What is like a text that is replaced itself refers to what that one refers to, and says how like it is to this.
func nearCopies(all []*entry, newest map[string]int, o Options) map[int]Decision {
	found, known := map[int]Decision{}, make([]lines, len(all))
	byLine := map[string][]int{} // the texts that begin with a line, the newest first
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].chars < DupChars || newest[all[i].now()] > i { // of the same texts only the newest is compared
			continue
		}
		known[i] = linesOf(all[i].now())
		shared, best := map[int]int{}, Decision{Action: NearDuped, Reason: "near duplicate", Like: nearLike}
		for _, line := range known[i].first {
			for _, j := range byLine[line] {
				shared[j]++
				small, large := min(all[i].chars, all[j].chars), max(all[i].chars, all[j].chars)
				if shared[j] != nearShared || float64(small) < nearLength*float64(large) {
					continue
				}
				if like := known[i].alike(&known[j]); like > best.Like || like == best.Like && j > best.Of {
					best.Of, best.Like = j, like
				}
			}
		}
		if best.Of > 0 && all[i].early(&o) == "" {
			if stays, replaced := found[best.Of]; replaced {
				best.Of = stays.Of
				best.Like = known[i].alike(&known[stays.Of])
			}
			found[i] = best
		}
		for _, line := range known[i].first {
			list := append(byLine[line], i)
			byLine[line] = list[max(0, len(list)-nearTries):]
		}
	}
	return found
}

const (
	topicOverlap = 0.15     // minimum weighted Dice coefficient of the terms
	crossRole    = 1.5      // factor on it if the roles differ: another speaker needs to say more of it
	topicTerms   = 128      // terms of one text that are compared
	topicTries   = 32       // older texts with the same term that are compared
	topicText    = 64 << 10 // bytes of one text that are read
	nameWeight   = 2        // weight of an identifier, number or path; words have weight 1
)

// superseded finds for each text a later one that corrects it: one with a correction signal and a similar topic. A correction
// supersedes at most one earlier text, the most similar one that no other correction has superseded.
func superseded(all []*entry) map[int]Decision {
	found := map[int]Decision{}
	topics := make([]map[string]int, len(all))
	byTerm := map[string][]int{} // the texts with a term, in order
	for i := range all {
		m := all[i]
		if m.role == "system" || m.role == "tool" || m.role == "call" || m.why&isMarker != 0 {
			continue
		}
		topics[i] = topicsOf(m.now())
		if m.how != "" && !m.done {
			shared := map[int]int{}
			for term, weight := range topics[i] {
				for _, j := range byTerm[term][max(0, len(byTerm[term])-topicTries):] {
					shared[j] += weight
				}
			}
			best, most := -1, 0.0
			for j, w := range shared {
				need := topicOverlap
				if all[j].role != m.role {
					need *= crossRole
				}
				dice := 2 * float64(w) / float64(total(topics[i])+total(topics[j]))
				if _, taken := found[j]; !taken && dice >= need && (dice > most || dice == most && j > best) {
					best, most = j, dice
				}
			}
			if best >= 0 {
				found[best] = Decision{Action: Contradicted, Reason: m.how, Of: i}
			}
		}
		for term := range topics[i] {
			byTerm[term] = append(byTerm[term], i)
		}
	}
	return found
}

// total returns the sum of the weights of a text's terms.
func total(terms map[string]int) (sum int) {
	for _, w := range terms {
		sum += w
	}
	return sum
}

// topicsOf returns the first distinct terms of a text with their weights: uncommon words in the singular, names, numbers and
// paths.
func topicsOf(text string) map[string]int {
	all := map[string]int{}
	for lx := Lex(text[:min(len(text), topicText)]); len(all) < topicTerms && lx.Next(); {
		core, has := lexicon.Lower(lx.Core()), lx.Word.Has
		kind := KindOf(lx.Core(), has)
		switch {
		case len(core) < 2:
		case has&^(lexicon.Small|lexicon.High|lexicon.Quote|lexicon.Hyphen) != 0 && kind != PlainWord && kind != CapitalWord:
			all[core] = nameWeight
		case has&(lexicon.Letters|lexicon.High) == 0, stops[strings.ReplaceAll(core, "'", "")]:
		case len(core) > 3 && strings.HasSuffix(core, "s") && !strings.HasSuffix(core, "ss"):
			all[core[:len(core)-1]] = 1
		default:
			all[core] = 1
		}
	}
	return all
}

// stops are words that are too common to identify a topic.
var stops = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`a about above after again all also am an and any are as at be because been before being below between both but by can
		cannot could did do does doing dont down during each even every few first for from further get go going got had has
		have having he her here him his how i if ill im in into is it its ive just last let lets like made make many may me
		might more most much must my need needs new next no nor not now of off on once one only or other our out over own
		please same see she should so some still such sure than that thats the their them then there these they this those
		through to too two under until up use used using very want was way we well were what when where which while who why
		will with without would yes yet you your actually instead wait sorry correction meant mean rather okay ok thanks`) {
		m[w] = true
	}
	return m
}()
