package tools

import "unicode/utf8"

// window keeps a range of the characters written to it, as many as room and limit allow. A byte that is not UTF-8 counts as
// one character and becomes U+FFFD, because JSON cannot represent it.
type window struct {
	from  int64 // characters to skip
	limit int64 // characters to keep at most
	room  int   // bytes to keep at most
	all   bool  // count to the end even if the window is full
	at    int64 // characters seen so far
	wrong int   // bytes in the window that are not UTF-8
	more  bool  // there is text after the window
	text  []byte
	carry []byte // an incomplete character
}

// Write implements io.Writer. It fails with errEnough when nothing more is needed.
func (w *window) Write(data []byte) (int, error) {
	size := len(data)
	if len(w.carry) > 0 {
		data = append(w.carry, data...)
	}
	whole := len(data) - partial(data)
	w.carry = append([]byte(nil), data[whole:]...)
	return size, w.add(data[:whole])
}

// end adds an incomplete character at the end of the text.
func (w *window) end() error { return w.add(w.carry) }

// partial returns how many bytes at the end of data belong to an incomplete character.
func partial(data []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(data); n++ {
		if tail := data[len(data)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

func (w *window) add(data []byte) error {
	if w.at < w.from { // skip whole writes without decoding them
		if chars := int64(utf8.RuneCount(data)); w.at+chars <= w.from {
			w.at += chars
			return nil
		}
		n := prefix(data, int(w.from-w.at))
		w.at, data = w.from, data[n:]
	}
	for len(data) > 0 && !w.more && w.at < w.from+w.limit {
		r, n := utf8.DecodeRune(data)
		if len(w.text)+utf8.RuneLen(r) > w.room {
			break
		}
		if r == utf8.RuneError && n == 1 {
			w.wrong++
		}
		w.text = utf8.AppendRune(w.text, r)
		w.at, data = w.at+1, data[n:]
	}
	if len(data) == 0 {
		return nil
	}
	w.more = true
	if !w.all {
		return errEnough
	}
	w.at += int64(utf8.RuneCount(data))
	return nil
}

// prefix returns the number of bytes that the first max characters take.
func prefix(text []byte, max int) int {
	n := 0
	for ; max > 0 && n < len(text); max-- {
		_, size := utf8.DecodeRune(text[n:])
		n += size
	}
	return n
}
