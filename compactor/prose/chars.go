package prose

import "unicode/utf8"

// Chars counts characters, the unit of every limit on text. Most text is ASCII, which goes eight bytes at a time.
func Chars(s string) int {
	const ascii = 0x8080808080808080
	n := len(s)
	for i := 0; i < len(s); {
		if i+8 <= len(s) && eight(s[i:i+8])&ascii == 0 {
			i += 8
			continue
		}
		if s[i] < utf8.RuneSelf {
			i++
			continue
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		n -= size - 1
		i += size
	}
	return n
}

// eight is the first eight bytes of a text as a number.
func eight(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// Head is the first n characters of a text.
func Head(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// IsNumber reports whether a text is nothing but digits, commas and dots.
func IsNumber(s string) bool {
	for i := range len(s) {
		if (s[i] < '0' || s[i] > '9') && s[i] != ',' && s[i] != '.' {
			return false
		}
	}
	return s != ""
}

// jsonSize is how many bytes a text takes as a JSON string, its quotes left out.
func jsonSize(s string) int {
	n := len(s)
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"', c == '\\', c == '\n', c == '\r', c == '\t', c == '\b', c == '\f':
			n++
		case c < ' ':
			n += len(`\u0000`) - 1
		}
	}
	return n
}
