package redact

import "bytes"

// Private keys are lines of base64 between a line with BEGIN and one with END, either of which may be missing.

var (
	keyWords = []byte("PRIVATE KEY")
	beginKey = []byte("BEGIN")
	endKey   = []byte("END")
	dashes   = []byte("-----")
)

const (
	keyHead = 200 // bytes after BEGIN in which the first line of base64 begins: after other headers
	keyGap  = 48  // bytes between two lines of base64: a line end, a number, an indentation
	keyLine = 16  // bytes of a line of base64, at least, except the last one
)

// keys marks the private keys whose first or last line is in the next keyHead*2 bytes after byte off. It returns the end of
// the last one.
func (s *scan) keys(v *view, off int) (end int) {
	text := v.text
	for most := min(len(text), off+3*keyHead); ; {
		i := bytes.Index(text[off:most], keyWords)
		if i < 0 {
			return end
		}
		i += off
		off = i + len(keyWords)
		head := text[max(0, i-40):i]
		from, to := 0, 0
		switch b, e := bytes.LastIndex(head, beginKey), bytes.LastIndex(head, endKey); {
		case b > e:
			from, to = keyAfter(text, off)
		case e > b:
			from, to = keyBefore(text, max(0, i-40)+e)
		}
		if from < to {
			s.mark(v, from, to, privateKind)
			end, off = to, max(off, min(to, most))
		}
	}
}

// keyAfter returns the lines of base64 after byte i.
func keyAfter(text []byte, i int) (from, to int) {
	most := keyHead
	for from = i; ; {
		start, end := run64(text, i, min(len(text), i+most), 2*keyLine)
		if to > 0 { // the last line may be short
			start, end = run64(text, i, min(len(text), i+keyGap), 1)
			start, end = longRun(text, start, end)
		}
		if start == end {
			break
		}
		if to == 0 {
			from = start
		}
		to, i, most = end, end, keyGap
	}
	return from, to
}

// longRun skips runs that are too short for a line of base64, unless a line with END follows.
func longRun(text []byte, start, end int) (int, int) {
	for limit := start + keyGap; start < end && end-start < keyLine; {
		if next := text[end:min(len(text), end+12)]; bytes.Contains(next, []byte("-----")) || bytes.Contains(next, []byte("=")) {
			return start, end
		}
		start, end = run64(text, end, min(len(text), limit), 1)
	}
	return start, end
}

// run64 returns the first run of at least n base64 characters that begins in [i, limit), and the padding after it.
func run64(text []byte, i, limit, n int) (from, to int) {
	for i < limit {
		if !is64(text[i]) || i > 0 && text[i-1] == '\\' {
			if bytes.HasPrefix(text[i:], []byte("-----END")) {
				return i, i
			}
			i++
			continue
		}
		from = i
		for i < len(text) && is64(text[i]) {
			i++
		}
		if i-from >= n {
			for i < len(text) && text[i] == '=' {
				i++
			}
			return from, i
		}
	}
	return limit, limit
}

func is64(c byte) bool { return classes[c]&base64Char != 0 && c != '-' && c != '_' }

// keyBefore returns the lines of base64 that end before byte i.
func keyBefore(text []byte, i int) (from, to int) {
	from = i
	for gap := 0; i > 0 && gap < keyGap; {
		if !is64(text[i-1]) && text[i-1] != '=' {
			i--
			gap++
			continue
		}
		end := i
		for i > 0 && (is64(text[i-1]) || text[i-1] == '=') {
			i--
		}
		start := i
		if start > 0 && text[start-1] == '\\' {
			start++
		}
		if end-start < keyLine && to > 0 {
			gap += end - start
			continue
		}
		if end-start < 4 {
			gap += end - start
			continue
		}
		if to == 0 {
			to = end
		}
		from, gap = start, 0
	}
	if to-from < 2*keyLine {
		return 0, 0
	}
	return from, to
}
