package prose

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
