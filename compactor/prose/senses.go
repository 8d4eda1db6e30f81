package prose

import "ccd/compactor/lexicon"

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

// meaning is what a phrase tells.
type meaning struct {
	sense  sense
	signal signal
}

// phraseBook finds phrases with their meaning.
type phraseBook struct{ lexicon.Book[meaning] }

func (b *phraseBook) add(sense sense, signal signal, list ...string) {
	b.Add(meaning{sense, signal}, list...)
}

// at gives what the phrases that the lexer's word belongs to tell together.
func (b *phraseBook) at(l *lexicon.Lexer) (all sense, sig signal) {
	if !b.May(l.Word.Hash) {
		return 0, noSignal
	}
	return b.look(l)
}

// look compares the phrases that are found by the word.
func (b *phraseBook) look(l *lexicon.Lexer) (all sense, sig signal) {
	found := b.Of(l.Word.Hash)
	for i := range found {
		p := &found[i]
		if is, opens := p.At(l); !is || !opens && p.Means.sense&atOpening != 0 {
			continue
		}
		all |= p.Means.sense
		if sig == noSignal {
			sig = p.Means.signal
		}
	}
	return all &^ atOpening, sig
}
