package prose

import (
	"strings"

	"ccd/compactor/lexicon"
)

// Summarize is the summary of consecutive texts that are merged, in at most so many chars (0: the budget for a text of
// their length). It is deterministic, and linear in the texts. Fences are left out: see splitCode.
func Summarize(texts []string, o Options, most int) string {
	text := strings.Join(texts, "\n\n")
	chars := lexicon.Chars(text)
	if most <= 0 {
		most = o.Budget(chars)
	}
	if isStructured(text, chars) {
		return lexicon.Head(structuredSummary(text, most), most)
	}
	return best(text, unitsOf(text), most)
}

// between parts the sentences of a summary.
const between = " ... "

// sentence is a sentence of a text, or a line that ends in none.
type sentence struct {
	from, to int32 // in the text
	chars    int32
	part     int32 // paragraph
	score    int32
}

// unitsOf gives the sentences of a text in order, with their scores. A line that goes on in the next one is joined with
// it; a bullet, a heading and a line without an end are sentences of their own.
func unitsOf(text string) []sentence {
	s := splitter{text: text, all: make([]sentence, 0, len(text)/64+4)}
	at := 0
	for line := range strings.Lines(text) {
		s.line(line, at)
		at += len(line)
	}
	s.flush()
	return s.all
}

// splitter collects the sentences of a text.
type splitter struct {
	text   string
	all    []sentence
	fences lexicon.Fences
	part   int32
	from   int // of the sentence that is not yet ended, with to
	to     int
	long   bool // the line before is long enough to have been wrapped
}

func (s *splitter) line(line string, at int) {
	fence, code := s.fences.Line(line)
	if fence {
		s.flush()
		return
	}
	t := strings.TrimLeft(line, " \t")
	at += len(line) - len(t)
	t = strings.TrimRight(t, " \t\r\n")
	switch {
	case code:
		return
	case t == "" || lexicon.IsRule(t):
		s.flush()
		s.part++
		return
	case s.from < s.to && !(s.long && lexicon.ClassOf(t[0])&(lexicon.Small|lexicon.Digit) != 0 && lexicon.NumberLen(t) == 0):
		s.flush()
	}
	if s.from == s.to {
		n := lexicon.LeadLen(t)
		at, t = at+n, t[n:]
	}
	s.sentences(t, at)
	s.long = len(line) >= 50
}

// sentences takes the sentences of a trimmed line; the last one may go on in the next line.
func (s *splitter) sentences(t string, at int) {
	for t != "" {
		n := lexicon.SentenceEnd(t)
		if s.from == s.to {
			s.from = at
		}
		s.to = at + n
		if n < len(t) || lexicon.EndsSentence(t) {
			s.flush()
		}
		rest := t[n:]
		for rest != "" && (rest[0] == ' ' || rest[0] == '\t') {
			rest = rest[1:]
		}
		at += len(t) - len(rest)
		t = rest
	}
}

// flush ends the sentence that is open.
func (s *splitter) flush() {
	if s.from < s.to {
		t := s.text[s.from:s.to]
		u := sentence{from: int32(s.from), to: int32(s.to), chars: int32(lexicon.Chars(t)), part: s.part}
		if u.chars >= minSentence || u.chars > 1 && lexicon.ClassOf(t[0])&(lexicon.Letters|lexicon.High) != 0 {
			u.score = scoreOf(t, int(u.chars))
			s.all = append(s.all, u)
		}
	}
	s.from, s.to = 0, 0
}

// best joins the best sentences that fit into so many chars, in their order: the best one of each paragraph first, then
// the others. Where not even one fits, the best one is cut.
func best(text string, all []sentence, most int) string {
	if len(all) == 0 {
		return ""
	}
	p := picker{text: text, all: all, left: most, taken: make([]bool, len(all)), seen: map[uint32]bool{}}
	leads := p.leads()
	p.take(leads, 0)
	p.take(nil, 0)
	if p.n == 0 {
		p.take(leads, scoreFiller*mostNames)
	}
	if p.n == 0 {
		top := 0
		for i := range all {
			if all[i].score > all[top].score {
				top = i
			}
		}
		return cutWords(oneLine(text[all[top].from:all[top].to]), most)
	}
	return p.joined(most)
}

// picker takes sentences by their score.
type picker struct {
	text  string
	all   []sentence
	left  int // chars
	n     int
	taken []bool
	seen  map[uint32]bool // sentences that are taken, so that none is said twice
}

// leads gives the best sentence of each paragraph, the first of equals.
func (p *picker) leads() []int32 {
	var leads []int32
	for i := range p.all {
		switch n := len(leads); {
		case n == 0 || p.all[leads[n-1]].part != p.all[i].part:
			leads = append(leads, int32(i))
		case p.all[i].score > p.all[leads[n-1]].score:
			leads[n-1] = int32(i)
		}
	}
	return leads
}

// topScore bounds the scores that are told apart.
const topScore = 64

// take takes those of the sentences (nil: all) that fit and have a score of least or more, best first: by counting, as
// there are few scores.
func (p *picker) take(some []int32, least int32) {
	n := len(some)
	if some == nil {
		n = len(p.all)
	}
	at := func(i int) int32 {
		if some == nil {
			return int32(i)
		}
		return some[i]
	}
	var from [topScore + 3]int
	for i := range n {
		from[p.slot(at(i), least)+1]++
	}
	for sc := 1; sc < len(from); sc++ {
		from[sc] += from[sc-1]
	}
	order := make([]int32, n)
	for i := range n {
		sc := p.slot(at(i), least)
		order[from[sc]] = at(i)
		from[sc]++
	}
	for _, i := range order[:from[topScore]] {
		p.fit(i)
	}
}

// slot is the place of a sentence's score: the highest scores first, then those below 0, last those below the least.
func (p *picker) slot(i, least int32) int {
	switch sc := p.all[i].score; {
	case sc < least:
		return topScore + 1
	case sc < 0:
		return topScore
	default:
		return topScore - 1 - int(min(sc, topScore-1))
	}
}

// fit takes a sentence if it still fits.
func (p *picker) fit(i int32) {
	u := p.all[i]
	need := int(u.chars)
	if p.n > 0 {
		need += len(between)
	}
	if p.taken[i] || need > p.left {
		return
	}
	h := lexicon.TermHash(p.text[u.from:u.to])
	if p.seen[h] {
		return
	}
	p.seen[h], p.taken[i] = true, true
	p.left -= need
	p.n++
}

func (p *picker) joined(most int) string {
	var b strings.Builder
	for i, ok := range p.taken {
		if !ok {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(between)
		}
		b.WriteString(oneLine(p.text[p.all[i].from:p.all[i].to]))
	}
	return lexicon.Head(b.String(), most)
}

// oneLine makes one line of a sentence that was wrapped.
func oneLine(s string) string {
	if strings.IndexByte(s, '\n') < 0 {
		return s
	}
	return strings.Join(strings.Fields(s), " ")
}

// cutWords is a line in at most so many chars, cut behind a word where one ends near.
func cutWords(s string, most int) string {
	const more = " ..."
	if lexicon.Chars(s) <= most {
		return s
	}
	if most <= len(more) {
		return lexicon.Head(s, most)
	}
	h := lexicon.Head(s, most-len(more))
	if i := strings.LastIndexByte(h, ' '); i > len(h)*2/3 {
		h = h[:i]
	}
	return strings.TrimRight(h, " ,;:-") + more
}
