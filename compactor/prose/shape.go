package prose

import (
	"encoding/json"
	"strings"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
)

// Shape is what a text is, learnt once while it is at hand: its reasons, how it corrects and decides, and how much of
// it is prose outside of fences. It fits into 8 bytes, so that a row can keep it.
type Shape struct {
	why  reasons
	rest uint32 // chars of prose, and above them bits
}

const (
	proseMask  = 1<<26 - 1 // chars of prose are counted up to here
	choiceBit  = 1 << 26
	boundBit   = 1 << 27
	signalBits = 28
)

// prose is how many chars of the text stand outside of fences.
func (s Shape) prose() int { return int(s.rest & proseMask) }

// Decides reports whether the text tells a decision, by its words.
func (s Shape) Decides() bool { return s.rest&choiceBit != 0 }

// Constrains reports whether the text tells what must hold, by its words.
func (s Shape) Constrains() bool { return s.rest&boundBit != 0 }

// Corrects reports whether the text corrects what was said before, by its words.
func (s Shape) Corrects() bool { return s.signal() != noSignal }

// signal is how the text corrects what was said before.
func (s Shape) signal() signal { return signal(s.rest >> signalBits) }

// ShapeOf looks at a text once, line by line. Linear.
func ShapeOf(text string) Shape {
	l := scanner{text: text, blank: true}
	for line := range strings.Lines(text) {
		l.line(line)
	}
	return l.shape()
}

// scanner collects what the lines of a text tell.
type scanner struct {
	text   string
	why    reasons
	sense  sense
	signal signal
	fences lexicon.Fences
	blank  bool // the line before is blank, or there is none
	listed bool // within a list
	lead   bool // the line before ends in a colon
	first  bool // the word is the first one of its line

	prose, bytes, words, symbols int
	hits, links, looks           int // local reasons; connectives; looks for SQL
	keys, rows, wide, verse      int // lines in a row
	inset, steps, frames, code   int
	ragged, lines                int
	sum, squares                 int64 // of the ragged lines' lengths
}

// line looks at one line with its end.
func (l *scanner) line(line string) {
	switch fence, code := l.fences.Line(line); {
	case fence:
		l.why |= hasFence
		return
	case code:
		return
	}
	t := strings.TrimSpace(line)
	if t == "" {
		l.keys, l.wide, l.verse, l.blank = 0, 0, 0, true
		return
	}
	l.prose += lexicon.Chars(t)
	if l.lines > 0 {
		l.prose++ // the white space between
	}
	l.bytes += len(line)
	l.lines++
	l.block(t, indentOf(line))
	l.inline(line)
	l.blank, l.lead = false, t[len(t)-1] == ':'
}

// block follows what only several lines together are.
func (l *scanner) block(t string, indent int) {
	bullet := lexicon.BulletLen(t)
	l.indented(t, indent, bullet)
	l.coded(t, indent)
	count(&l.keys, isKeyLine(t), keyLines, &l.why, hasYAML)
	count(&l.rows, isRow(t), tableRows, &l.why, hasTable)
	count(&l.wide, bullet == 0 && hasColumns(t), columnRows, &l.why, hasTable)
	count(&l.verse, isVerse(t), verseLines, &l.why, hasVerse)
	if lexicon.IsFrame(t) {
		if l.frames++; l.frames == frameLines {
			l.why |= hasTrace
		}
	}
	if lexicon.NumberLen(t) > 0 {
		l.steps++
	}
	if bullet == 0 && indent == 0 {
		l.listed = false
	} else if bullet > 0 {
		l.listed = true
	}
	if bullet == 0 && t[0] != '#' && t[0] != '>' && !lexicon.EndsSentence(t) {
		l.ragged++
		n := int64(len(t))
		l.sum, l.squares = l.sum+n, l.squares+n*n
	}
}

// count follows how many lines in a row are something, and notes the reason once they are enough.
func count(n *int, is bool, enough int, why *reasons, r reasons) {
	if !is {
		*n = 0
		return
	}
	if *n++; *n >= enough {
		*why |= r
	}
}

// indented follows code that is told by its indentation alone: two lines in a row, or one that a blank line or a colon
// leads in, outside of lists.
func (l *scanner) indented(t string, indent, bullet int) {
	if indent < 4 || bullet > 0 || l.listed {
		l.inset = 0
		return
	}
	l.inset++
	if l.inset >= indentedLines || l.lead || l.blank && l.lines > 1 {
		l.why |= hasIndentedCode
	}
}

// coded follows lines of source code: what is indented deeper between them goes on.
func (l *scanner) coded(t string, indent int) {
	if isCode(t) {
		l.code++
	} else if indent < 2 {
		l.code = 0
	}
	if l.code >= codeLines {
		l.why |= hasCode
	}
}

// inline looks at the words of a line.
func (l *scanner) inline(line string) {
	lx := lexicon.Lex(line)
	number, odd := false, false
	for l.first = true; lx.Next(); l.first = false {
		w := &lx.Word
		odd = odd || w.All&lexicon.Other != 0
		if w.All&(lexicon.Other|lexicon.Paired|lexicon.Equals) != 0 {
			l.symbols += symbolsIn(lx.Run())
		}
		if w.All&lexicon.Quote != 0 && lx.Text[w.From] == '"' {
			l.quoted(lx.Run())
		}
		if w.Head == w.Tail {
			if number && lx.Run() == "%" {
				l.why |= hasUnits
			}
			continue
		}
		l.words++
		if w.All&lexicon.Hyphen != 0 && strings.HasPrefix(lx.Run(), "-----BEGIN") {
			l.why |= hasSecret
		}
		if w.Has&^(lexicon.Letters|lexicon.High|lexicon.Quote|lexicon.Hyphen) == 0 && w.Tail-w.Head < secretRun {
			l.plain(&lx, number)
			number = false
			continue
		}
		number = l.special(&lx)
	}
	if odd && isLaTeX(line) {
		l.hit(hasLaTeX)
	}
}

// hit notes a local reason: one place of it keeps a short text whole, a long one needs more.
func (l *scanner) hit(r reasons) {
	l.why |= r
	l.hits++
}

// plain looks at a word of letters.
func (l *scanner) plain(lx *lexicon.Lexer, afterNumber bool) {
	if afterNumber {
		if s, _ := manner.at(lx); s&unitWord != 0 {
			l.why |= hasUnits
		}
	}
	s, sig := turns.at(lx)
	if s|sense(sig) == 0 {
		if lx.Word.Has&lexicon.Upper != 0 && isException(lx) {
			l.hit(hasFailure)
		}
		return
	}
	l.sense |= s
	if l.signal == noSignal {
		l.signal = sig
	}
	if s&(failure|traceHead|connective|conclusion|statement|legalese) != 0 {
		l.matched(s, lx)
	}
}

// quoted looks at a word in double quotes, or the first of several.
func (l *scanner) quoted(run string) {
	l.why |= hasQuote
	if strings.Contains(run, `":`) {
		l.why |= hasQuotedKey
	}
}

// matched notes the reasons that a phrase gives.
func (l *scanner) matched(s sense, lx *lexicon.Lexer) {
	if s&failure != 0 {
		l.hit(hasFailure)
	}
	if s&traceHead != 0 {
		l.why |= hasTrace
	}
	if s&legalese != 0 {
		l.why |= hasLegal
	}
	if s&connective != 0 {
		l.links++
	}
	if s&conclusion != 0 && l.steps >= chainSteps {
		l.hit(hasReasoning)
	}
	if s&statement != 0 && l.looks*maxStatement <= 64*maxStatement+4*l.bytes {
		l.looks++
		if isSQL(lx.Text[lx.Word.Head:], l.first) {
			l.hit(hasSQL)
		}
	}
}

// isException reports whether a word names an exception that is thrown: KeyError: ...
func isException(lx *lexicon.Lexer) bool {
	core := lx.Core()
	colon := lx.Word.Tail < lx.Word.To && lx.Text[lx.Word.Tail] == ':'
	return colon && len(core) > 6 && (strings.HasSuffix(core, "Error") || strings.HasSuffix(core, "Exception"))
}

// softKinds are the soft reasons that words give.
var softKinds = [...]reasons{
	lexicon.VersionWord: hasVersion, lexicon.NetWord: hasNet, lexicon.DigestWord: hasDigest, lexicon.MailWord: hasMail, lexicon.WebWord: hasWeb, lexicon.PathWord: hasPath,
	lexicon.PlaceWord: hasPath,
}

// special looks at a word that is more than letters; true where it is a number.
func (l *scanner) special(lx *lexicon.Lexer) bool {
	w, core, run := &lx.Word, lx.Core(), lx.Run()
	k := lexicon.KindOf(core, w.Has)
	l.why |= softKinds[k]
	if len(run) >= secretRun {
		l.lengthy(core, run, w.All)
	}
	if k != lexicon.NumberWord {
		if isAssigned(lx) {
			l.why |= hasSecret
		}
		return false
	}
	if isHTTPError(lx) {
		l.hit(hasHTTPError)
	}
	if w.Has&lexicon.Letters != 0 || w.To > w.Tail && lx.Text[w.Tail] == '%' || strings.HasSuffix(core, "%") {
		l.why |= hasUnits
	}
	if isPhone(core) {
		l.why |= hasPhone
	}
	return true
}

// lengthy looks at a long word: a key, a blob.
func (l *scanner) lengthy(core, run string, all lexicon.Class) {
	if isSecret(core) {
		l.why |= hasSecret
	}
	if len(core) >= base64Run && isBase64(core) || all&lexicon.Other != 0 && strings.Contains(run[:min(len(run), lexicon.LongestName)], ";base64,") {
		l.hit(hasBase64)
	}
}

// shape sums up.
func (l *scanner) shape() Shape {
	why := l.why
	local := hasSQL | hasLaTeX | hasBase64 | hasHTTPError | hasFailure | hasReasoning
	if l.hits*charsPerHit < l.prose {
		why &^= local
	}
	if l.links >= chainWords && l.links*charsPerHit >= l.prose*chainWords {
		why |= hasReasoning
	}
	if l.prose >= shortText && float64(l.symbols) > symbolShare*float64(l.bytes) {
		why |= hasSymbols
	}
	if n := int64(l.ragged); l.ragged >= raggedLines && l.ragged*5 > l.lines*3 &&
		float64(n*l.squares-l.sum*l.sum) > raggedSpread*raggedSpread*float64(l.sum)*float64(l.sum) {
		why |= hasRagged
	}
	if l.words >= proseWords {
		why |= isLong
	}
	if looksJSON(l.text) {
		why |= hasJSON
		if json.Valid([]byte(l.text)) {
			why |= isJSON
		}
	}
	if startsWithMarker(l.text) {
		why |= isMarker
	}
	s := Shape{why: why, rest: uint32(min(l.prose, proseMask)) | uint32(l.signal)<<signalBits}
	if l.sense&choice != 0 {
		s.rest |= choiceBit
	}
	if l.sense&constraint != 0 {
		s.rest |= boundBit
	}
	return s
}

// startsWithMarker reports whether a text begins with a marker of ours, or is the compressed part of a list.
func startsWithMarker(text string) bool {
	return afterID(text) != "" || strings.HasPrefix(text, "[Conversation compressed]")
}

// afterID is what follows the ID of the marker that a text begins with, "" where it begins with none.
func afterID(text string) string {
	const open = "[ccd "
	n := len(open) + mark.IDLen
	if len(text) > n && strings.HasPrefix(text, open) && mark.IsID(text[len(open):n]) && (text[n] == ' ' || text[n] == ']') {
		return text[n:]
	}
	return ""
}
