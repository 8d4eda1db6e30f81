package prose

// class is what a byte is; of a word, what its bytes are.
type class uint16

const (
	upperByte class = 1 << iota
	smallByte
	digitByte
	dotByte
	slashByte
	colonByte
	underByte
	hyphenByte
	atByte
	equalsByte
	quoteByte  // ' " and the backtick
	pairedByte // brackets of all kinds
	highByte   // of a character beyond ASCII
	otherByte  // all else that prints
	gapByte    // white space and control characters
)

const letterBytes = upperByte | smallByte

// classOf tells the class of each byte.
var classOf = func() (t [256]class) {
	for i := range t {
		c := byte(i)
		switch {
		case c >= 0x80:
			t[i] = highByte
		case c <= ' ' || c == 0x7f:
			t[i] = gapByte
		case c >= 'A' && c <= 'Z':
			t[i] = upperByte
		case c >= 'a' && c <= 'z':
			t[i] = smallByte
		case c >= '0' && c <= '9':
			t[i] = digitByte
		default:
			t[i] = otherByte
		}
	}
	for c, k := range map[byte]class{
		'.': dotByte, '/': slashByte, ':': colonByte, '_': underByte, '-': hyphenByte, '@': atByte, '=': equalsByte, '\'': quoteByte, '"': quoteByte,
		'`': quoteByte, '(': pairedByte, ')': pairedByte, '[': pairedByte, ']': pairedByte, '{': pairedByte, '}': pairedByte, '<': pairedByte, '>': pairedByte,
	} {
		t[c] = k
	}
	return t
}()

// foldOf is the small letter for each letter, 0 for all other bytes.
var foldOf = func() (t [256]uint8) {
	for c := byte('a'); c <= 'z'; c++ {
		t[c], t[c-0x20] = c, c
	}
	return t
}()

// opensOf tells which bytes let a sentence or a clause begin behind them.
var opensOf = byteSet("\n.!?:;,-#>\"(")

// headOf and tailOf tell which bytes stand around words without being part of them.
var (
	headOf = byteSet("([{<\"'`*,;!?)]}>|#=")
	tailOf = byteSet(".,;:!?)]}>\"'`*([{<|=")
)

func byteSet(list string) (t [256]bool) {
	for i := range len(list) {
		t[list[i]] = true
	}
	return t
}

// word is a run of bytes without white space, and within it the core without the punctuation around.
type word struct {
	from, to   int    // of the run
	head, tail int    // of the core; head == tail: there is none
	hash       uint32 // of its letters, see wordHash
	has        class
	all        class // as has, of the whole run
	opens      bool  // a sentence, a clause or a line begins here
}

// lexer walks over the words of a text. Each byte is looked at once or twice, whatever the text.
type lexer struct {
	text string
	at   int
	word word
	end  byte // how the word before ended: its last byte, '\n' where a line began since
}

func lex(text string) lexer { return lexer{text: text, end: '\n'} }

// next moves to the next word; false at the end.
func (l *lexer) next() bool {
	s, i := l.text, l.at
	for i < len(s) && classOf[s[i]] == gapByte {
		if s[i] == '\n' {
			l.end = '\n'
		}
		i++
	}
	if i == len(s) {
		l.at = i
		return false
	}
	from, all, h := i, class(0), uint32(0)
	for i < len(s) {
		c := s[i]
		k := classOf[c]
		if k == gapByte {
			break
		}
		all |= k
		if v := foldOf[c]; v != 0 {
			h = (h<<5 | h>>27) ^ uint32(v)
		}
		i++
	}
	w := &l.word
	w.from, w.to, w.head, w.tail, w.hash, w.has, w.all, w.opens = from, i, from, i, h, all, all, opensOf[l.end]
	if all&^(letterBytes|digitByte|highByte) != 0 {
		w.trim(s)
	}
	if l.at = i; w.head < w.tail || l.end != '\n' { // a bullet opens as the line does
		l.end = s[i-1]
	}
	return true
}

// trim takes the punctuation off both ends of the word's core.
func (w *word) trim(s string) {
	head, tail := w.head, w.tail
	for head < tail && headOf[s[head]] {
		head++
	}
	for tail > head && tailOf[s[tail-1]] {
		tail--
	}
	has := class(0)
	for i := head; i < tail; i++ {
		has |= classOf[s[i]]
	}
	w.head, w.tail, w.has = head, tail, has
}

// core is the word without the punctuation around it.
func (l *lexer) core() string { return l.text[l.word.head:l.word.tail] }

// run is the word with it.
func (l *lexer) run() string { return l.text[l.word.from:l.word.to] }

// wordHash names a word by its letters, in any case and without apostrophes.
func wordHash(s string) uint32 {
	h := uint32(0)
	for i := range len(s) {
		if v := foldOf[s[i]]; v != 0 {
			h = (h<<5 | h>>27) ^ uint32(v)
		}
	}
	return h
}

// termHash names a term by all its bytes, in any case.
func termHash(s string) uint32 {
	h := uint32(2166136261)
	for i := range len(s) {
		c := s[i]
		if c-'A' < 26 {
			c |= 0x20
		}
		h = (h ^ uint32(c)) * 16777619
	}
	return h
}
