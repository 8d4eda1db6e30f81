package lexicon

// Class is the class of a byte, or the set of classes of a word's bytes.
type Class uint16

// The classes of bytes.
const (
	Upper Class = 1 << iota
	Small
	Digit
	Dot
	Slash
	Colon
	Under
	Hyphen
	At
	Equals
	Quote  // ' " and the backtick
	Paired // brackets of all kinds
	High   // part of a character beyond ASCII
	Other  // other printable characters
	Gap    // white space and control characters
)

// Letters are the letters of ASCII.
const Letters = Upper | Small

// ClassOf returns the class of a byte.
func ClassOf(c byte) Class { return classOf[c] }

var classOf = func() (t [256]Class) {
	for i := range t {
		c := byte(i)
		switch {
		case c >= 0x80:
			t[i] = High
		case c <= ' ' || c == 0x7f:
			t[i] = Gap
		case c >= 'A' && c <= 'Z':
			t[i] = Upper
		case c >= 'a' && c <= 'z':
			t[i] = Small
		case c >= '0' && c <= '9':
			t[i] = Digit
		default:
			t[i] = Other
		}
	}
	for c, k := range map[byte]Class{
		'.': Dot, '/': Slash, ':': Colon, '_': Under, '-': Hyphen, '@': At, '=': Equals, '\'': Quote, '"': Quote,
		'`': Quote, '(': Paired, ')': Paired, '[': Paired, ']': Paired, '{': Paired, '}': Paired, '<': Paired, '>': Paired,
	} {
		t[c] = k
	}
	return t
}()

// ByteSet returns a table of the bytes of a list.
func ByteSet(list string) (t [256]bool) {
	for i := range len(list) {
		t[list[i]] = true
	}
	return t
}

// IsValue reports whether a run is more than a word: it has a digit, the form of a path, an identifier or a flag, or only capitals.
func IsValue(text string) bool {
	has, inner, capitals := Class(0), false, 0
	for i := range len(text) {
		k := ClassOf(text[i])
		has |= k
		if k == Upper {
			capitals++
			inner = inner || i > 0 && ClassOf(text[i-1]) == Small
		}
	}
	letters := has&Letters != 0
	switch {
	case has&Digit != 0:
		return true
	case len(text) < 2:
		return false
	case has&(Slash|Under|At|Dot) != 0, inner, text[0] == '-':
		return letters
	}
	return capitals > 1 && capitals == len(text)
}
