package filter

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ccd/compactor/lexicon"
	"ccd/internal/lazy"
)

const (
	charsPerName  = 200 // chars of text per entity
	fewestNames   = 3
	mostEntities  = 15
	nounShare     = 8   // one word in so many is a proper noun, at most
	namesRanked   = 512 // distinct entities of a text that are ranked
	shortestProse = 120 // minimum chars of prose between fences worth shortening
)

// between separates the sentences of a summary.
const between = " ... "

// summarize returns a summary of a text in at most most chars: the best sentences that fit, in text order, taking the best
// one of each paragraph first. If none fits, the best one is cut. Fences are omitted. printed says that a program printed it.
// Deterministic and, except for sorting, linear.
func summarize(text string, most int, printed bool) string {
	if printed {
		return excerpt(text, most, true)
	}
	type sentence struct {
		text        string
		score, rank int // rank 0 is the best of its paragraph
		taken       bool
	}
	var all, order []*sentence
	best, last, seen := map[int]*sentence{}, -1, map[string]bool{}
	for part, s := range lexicon.Sentences(text) {
		if key := strings.ToLower(s); !seen[key] {
			seen[key] = true
			all = append(all, &sentence{text: s, score: scoreOf(s, lexicon.Chars(s)), rank: 1})
			if one := all[len(all)-1]; part != last || one.score > best[part].score {
				best[part], last = one, part
			}
		}
	}
	if len(all) == 0 {
		return ""
	}
	for _, one := range best {
		one.rank = 0
	}
	order = slices.Clone(all)
	slices.SortStableFunc(order, func(a, b *sentence) int { return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(b.score, a.score)) })
	left := most + len(between)
	for _, s := range order {
		if n := lexicon.Chars(s.text) + len(between); n <= left && s.score >= 0 {
			s.taken, left = true, left-n
		}
	}
	var said []string
	for _, s := range all {
		if s.taken {
			said = append(said, s.text)
		}
	}
	if len(said) == 0 {
		return lexicon.SentenceHead(order[0].text, most)
	}
	return strings.Join(said, between)
}

// The scores of what a sentence contains.
const (
	scoreName      = 3 // a camelCase, PascalCase or snake_case name, a path, an address
	scoreEmphasis  = 4
	scoreStatus    = 3
	scoreTurn      = 3 // a decision, a correction or a constraint
	scoreQuestion  = 5 // a question: it is open until somebody answers
	scoreNumber    = 2 // a number or a version
	scoreShortName = 2 // an abbreviation without vowels
	scoreLength    = 2 // of a good length
	scoreFiller    = -10
	scoreLeadIn    = -3  // ends in a colon, so it only introduces something
	sayingShortest = 13  // bytes; shorter sentences without a name, such as "Very good.", say too little
	goodShortest   = 40  // chars of a good length
	goodLongest    = 120 // chars of a good length
	mostNames      = 4   // names of one kind that count in one sentence
)

// kindScores has what each kind of word counts.
var kindScores = [NameWord + 1]int{
	NameWord: scoreName, AcronymWord: scoreShortName, NumberWord: scoreNumber,
}

// scoreOf returns how informative a sentence is. Names, figures, outcomes, decisions and emphasis raise the score, an empty
// opening phrase lowers it.
func scoreOf(s string, chars int) int {
	score, names := 0, 0
	var told sense // each counts once
	once := func(is bool, mark sense, points int) {
		if is && told&mark == 0 {
			told |= mark
			score += points
		}
	}
	lx := Lex(s)
	for first := true; lx.Next(); first = false {
		is, _ := sensesAt(lx)
		once(first && is&filler != 0, filler, scoreFiller)
		once(is&(choice|constraint|correction) != 0, choice, scoreTurn)
		once(is&emphasis != 0 || strings.HasPrefix(lx.Run(), "**") && len(lx.Core()) > 0, emphasis, scoreEmphasis)
		once(is&(outcome|failure) != 0, outcome, scoreStatus)
		points := kindScores[KindOf(lx.Core(), lx.Word.Has)]
		if names < mostNames && points > 0 {
			names++
			score += points
		}
	}
	if strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？") {
		score = max(score, 0) + scoreQuestion
	}
	if chars >= goodShortest && chars <= goodLongest {
		score += scoreLength
	}
	if len(s) < sayingShortest && score == 0 {
		score--
	}
	if lexicon.Leads(s) {
		score = min(score, 0) + scoreLeadIn
	}
	return score
}

const (
	printedLines = 6  // minimum number of lines of a program's output that are not blank
	printedLine  = 50 // bytes from which a line without the end of a sentence may be a wrapped one
	proseLine    = 80 // mean chars of the lines of a result from which it may be prose
	endLines     = 3  // lines of it that stand for its beginning
)

// isPrinted reports whether a text looks like the output of a program: most of its lines are short and no sentences. A tool's
// result may have longer lines and few of them.
func (t *entry) isPrinted() bool {
	if t.role == "tool" {
		return t.ragged*2 > t.lines || t.prose < proseLine*t.lines || t.why&(hasFence|hasCode|hasJSON|hasBase64) != 0
	}
	return t.lines >= printedLines && t.cut*2 > t.lines
}

// outline returns the first lines of a text and its last, how many it has, and the first files that they name. Lines that only
// close an element do not count.
func outline(text string) (ends []string, lines int, files []string) {
	for line := range strings.Lines(text) {
		t := strings.TrimSpace(line)
		if t == "" || strings.HasPrefix(t, "</") {
			continue
		}
		if lines++; lines <= endLines {
			ends = append(ends, t)
		} else {
			ends = append(ends[:endLines], "...", t)
		}
		if name := fileIn(t); name != "" && len(files) < namesRanked {
			files = append(files, name)
		}
	}
	return ends, lines, files
}

// excerpt summarizes a program's output in at most most chars: its distinct error lines and the line that sums it up, or else its
// first lines and its last; then the files in it. If the program failed, an error may stand anywhere in a line.
func excerpt(text string, most int, failed bool) string {
	const sep = " | "
	var parts []string
	left := most + len(sep)
	add := func(part string) {
		if n := lexicon.Chars(part) + len(sep); part != "" && n <= left && !slices.Contains(parts, part) {
			parts, left = append(parts, part), left-n
		}
	}
	failed = failed || failing().MatchString(text)
	for _, line := range lexicon.NumberedErrors(text, !failed) {
		if line = strings.TrimSpace(line); failed || !isCode(line) {
			add(line)
		}
	}
	add(SummaryLine(text))
	ends, lines, files := outline(text)
	if len(parts) == 0 {
		count := fmt.Sprintf(" (%d lines)", lines)
		add(lexicon.SentenceHead(strings.Join(ends, sep), most-len(count)) + count)
	}
	for _, name := range files {
		if !slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(part, name) }) {
			add(name)
		}
	}
	return strings.Join(parts, sep)
}

// failing matches the exit code of a command that failed.
var failing = lazy.Regexp(`(?i)\bexit(?:ed with)? (?:code|status)\W{0,3}[1-9]`)

// fileIn returns the first file that a line names, "" if none.
func fileIn(line string) string {
	if strings.Contains(line, "→") { // a line of a file that is printed with numbers
		return ""
	}
	for lx := Lex(line); lx.Next(); {
		name, kind := lx.Name()
		if kind != NameWord || strings.Contains(name, "://") {
			continue
		}
		name, _, _ = strings.Cut(name, ":")
		if strings.Contains(name, "/") || len(name)-strings.LastIndexByte(name, '.') <= 4 {
			return name
		}
	}
	return ""
}

// entities returns the pinned versions in a text, then a number of other names by its length, the most frequent first: identifiers,
// numbers with units, paths, abbreviations and proper nouns.
func entities(text string) []string {
	found := nouns{text: text, count: map[string]int{}, to: -1}
	for lx := Lex(text); lx.Next(); {
		found.take(&lx)
	}
	all := found.names
	if found.capitals*nounShare <= found.words { // else it is a language that writes each noun so
		all = append(all, found.proper...)
	}
	slices.SortStableFunc(all, func(a, b string) int { return cmp.Compare(found.count[b], found.count[a]) })
	most := max(fewestNames, min((lexicon.Chars(text)+charsPerName/2)/charsPerName, mostEntities))
	named := pins(text)
	for _, name := range all[:min(len(all), most)] {
		if !slices.Contains(named, name) {
			named = append(named, name)
		}
	}
	return named
}

// nouns are the distinct names in a text so far.
type nouns struct {
	text            string
	count           map[string]int
	names, proper   []string
	words, capitals int
	from, to        int // the proper noun before, if the next word may belong to it; to is -1 otherwise
}

// take takes the next word.
func (n *nouns) take(lx *Lexer) {
	n.words++
	w := lx.Word
	name, kind := lx.Name()
	switch {
	case kind == CapitalWord && (w.Opens || stops[strings.ToLower(name)]), kind >= AcronymWord && lexicon.IsNumber(name):
	case kind >= AcronymWord:
		n.add(&n.names, name)
	case kind != CapitalWord:
	case w.Head == n.to+1 && n.text[n.to] == ' ' && strings.Count(n.text[n.from:n.to], " ") < 2:
		n.proper[len(n.proper)-1], n.to = n.text[n.from:w.Tail], w.Tail
	default:
		n.capitals++
		n.from, n.to = w.Head, -1
		if n.add(&n.proper, name) {
			n.to = w.Tail
		}
	}
}

// add counts a name, and adds it to a list if it is the first time.
func (n *nouns) add(list *[]string, name string) bool {
	if n.count[name]++; n.count[name] > 1 || !isName(name) || len(*list) >= namesRanked {
		return false
	}
	*list = append(*list, name)
	return true
}

// pinned matches a version that is pinned: stripe==9.12.0, react@18.2.0, Python 3.11.
var pinned = lazy.Regexp(`[A-Za-z][\w./-]*(?:\[[\w,-]+\])?(?:[=~<>!]=|@[\^~]?)v?\d[\w.+-]*\w|\b[A-Z][\w.-]* v?\d+\.[\d.]*\d|\bv?\d+\.\d+\.\d[\w.+-]*\b`)

const mostPins = 32 // versions of one text

// pins returns the distinct versions that a text names. Nothing else in a text is as useless when it is half remembered.
func pins(text string) (all []string) {
	for _, p := range pinned().FindAllString(text, mostPins) {
		if !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all
}

// isName reports whether a word names something to people, and is no piece of JSON or of source.
func isName(s string) bool {
	return !strings.ContainsAny(s, `"{}[]()<>`) && (strings.IndexByte(s, '\\') < 0 || strings.HasPrefix(s[1:], `:\`)) && !strings.HasSuffix(s, "+") && !strings.HasSuffix(s, "//")
}

// splitCode shortens the prose of a text and leaves its fences unchanged. An unclosed fence extends to the end. Very short prose
// is kept. The result is never longer than the text.
func splitCode(text string, shorten func(prose string) string) string {
	var b strings.Builder
	var fences lexicon.Fences
	prose, at := 0, 0 // beginning of the prose and of the line
	flush := func(to int) {
		b.WriteString(shortProse(text[prose:to], shorten))
		prose = to
	}
	for line := range strings.Lines(text) {
		end := at + len(line)
		fence, code := fences.Line(line)
		if fence && code {
			flush(at)
		}
		if fence || code {
			b.WriteString(line)
			prose = end
		}
		at = end
	}
	flush(len(text))
	return b.String()
}

// shortProse returns shortened prose between fences, with the white space around it unchanged. It keeps prose that cannot be
// shortened or whose short form would open a fence.
func shortProse(prose string, shorten func(string) string) string {
	core := strings.TrimSpace(prose)
	if lexicon.Chars(core) < shortestProse {
		return prose
	}
	short := shorten(core)
	if lexicon.Chars(short) >= lexicon.Chars(core) || lexicon.FenceOf(short, "") != "" {
		return prose
	}
	return strings.Replace(prose, core, short, 1)
}
