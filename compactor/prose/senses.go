package prose

import "strings"

// sense is what a word or a phrase tells of its sentence. The lists are general English, written for this package from
// everyday usage; none is taken from a transcript, a data set or another program.
type sense uint32

const (
	failure     sense = 1 << iota // names what went wrong
	traceHead                     // opens a stack trace
	connective                    // links a formal chain of reasoning
	conclusion                    // closes one
	legalese                      // of a contract
	statement                     // may begin a statement of SQL
	choice                        // tells a decision
	constraint                    // tells what must hold
	emphasis                      // asks for attention
	outcomeWord                   // tells how something ended
	filler                        // says nothing, at the beginning of a sentence
	unitWord                      // counts or measures
	atOpening                     // holds only where a sentence or a clause begins
)

// signal is how a text corrects what was said before it.
type signal uint8

const (
	noSignal signal = iota
	explicitCorrection
	negation
	instead
	retraction
	dont
	notBut
	waitSignal
	sorrySignal
	selfCorrection
	rephrase
)

var signalNames = [...]string{
	"", "explicit correction", "negation", "instead", "retraction", "don't", "not-but", "wait", "sorry", "self-correction",
	"rephrase",
}

// String names the signal as markers show it.
func (s signal) String() string { return signalNames[s] }

// phrase is one entry: small letters without apostrophes, words parted by one space. It is found by the first word of
// text; before stands in front of that.
type phrase struct {
	before, text string
	sense        sense
	signal       signal
}

// phraseBook finds phrases by the hash of one word of each.
type phraseBook struct {
	first map[uint32][]phrase
	bits  [128]uint64 // a quick no for most words
}

func (b *phraseBook) add(sense sense, signal signal, list ...string) {
	for _, p := range list {
		before, text, ok := strings.Cut(p, "|")
		if !ok {
			before, text = "", p
		}
		h := wordHash(firstWord(text))
		b.first[h] = append(b.first[h], phrase{strings.TrimSuffix(before, " "), text, sense, signal})
		m := h * 0x9e3779b1
		b.bits[m>>25] |= 1 << (m >> 19 & 63)
	}
}

func firstWord(s string) string {
	if i := strings.IndexByte(s, ' '); i >= 0 {
		return s[:i]
	}
	return s
}

// at gives what the phrases that the lexer's word belongs to tell together.
func (b *phraseBook) at(l *lexer) (all sense, sig signal) {
	h := l.word.hash
	m := h * 0x9e3779b1
	if b.bits[m>>25]>>(m>>19&63)&1 == 0 {
		return 0, noSignal
	}
	return b.look(l, h)
}

// look compares the phrases that are found by a hash.
func (b *phraseBook) look(l *lexer, h uint32) (all sense, sig signal) {
	for _, p := range b.first[h] {
		if !p.at(l) {
			continue
		}
		all |= p.sense
		if sig == noSignal {
			sig = p.signal
		}
	}
	return all &^ atOpening, sig
}

// at reports whether the phrase stands around the lexer's word.
func (p *phrase) at(l *lexer) bool {
	from := l.word.head
	if !startsWithPhrase(l.text[from:], p.text) {
		return false
	}
	opens := l.word.opens
	if p.before != "" {
		if from = endsWithPhrase(l.text[:from], p.before); from < 0 {
			return false
		}
		opens = from == 0 || opensAfter(l.text[:from])
	}
	return opens || p.sense&atOpening == 0
}

// opensAfter reports whether a sentence, a clause or a line begins behind a text.
func opensAfter(before string) bool {
	i := len(before) - 1
	for i >= 0 && before[i] == ' ' {
		i--
	}
	return i < 0 || opensOf[before[i]]
}

// endsWithPhrase gives where a phrase begins with which a text ends, white space behind it; -1 where it does not.
func endsWithPhrase(text, p string) int {
	i := len(text)
	for i > 0 && classOf[text[i-1]] == gapByte {
		i--
	}
	for j := len(p); j > 0; {
		switch {
		case i == 0:
			return -1
		case text[i-1] == '\'':
			i--
		case text[i-1] == 0x99 && i > 2 && text[i-2] == 0x80 && text[i-3] == 0xe2: // ’
			i -= 3
		case p[j-1] == ' ' && classOf[text[i-1]] == gapByte, foldByte(text[i-1]) == p[j-1]:
			i, j = i-1, j-1
		default:
			return -1
		}
	}
	if i > 0 && classOf[text[i-1]]&(letterBytes|digitByte|underByte|quoteByte) != 0 {
		return -1
	}
	return i
}

// startsWithPhrase reports whether a text begins with a phrase in any case, apostrophes left out, and ends a word there.
// A # in the phrase stands for a number above 0, a ~ for a few words of the same sentence.
func startsWithPhrase(text, p string) bool {
	i, j := 0, 0
	for j < len(p) {
		switch {
		case i == len(text):
			return false
		case text[i] == '\'':
			i++
		case text[i] == 0xe2 && i+2 < len(text) && text[i+1] == 0x80 && text[i+2] == 0x99: // ’
			i += 3
		case p[j] == ' ':
			n := skipGap(text[i:])
			if n == 0 {
				return false
			}
			i, j = i+n, j+1
		case p[j] == '~':
			n := strings.Index(sameSentence(text[i:]), p[j+1:])
			if n < 0 {
				return false
			}
			i, j = i+n, j+1
		case p[j] == '#':
			return text[i]-'1' < 9
		case foldByte(text[i]) != p[j]:
			return false
		default:
			i, j = i+1, j+1
		}
	}
	return i == len(text) || classOf[text[i]]&(letterBytes|digitByte|underByte) == 0
}

// sameSentence is what of the next 60 bytes is in the same sentence.
func sameSentence(text string) string {
	text = text[:min(len(text), 60)]
	if i := strings.IndexAny(text, ".!?;:\n"); i >= 0 {
		return text[:i]
	}
	return text
}

// skipGap is how many bytes of white space a text begins with, a dozen at most.
func skipGap(s string) int {
	n := 0
	for n < len(s) && n < 12 && classOf[s[n]] == gapByte {
		n++
	}
	return n
}

func foldByte(c byte) byte {
	if c-'A' < 26 {
		return c | 0x20
	}
	return c
}
