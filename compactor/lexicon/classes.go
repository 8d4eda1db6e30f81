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
