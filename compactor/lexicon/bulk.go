package lexicon

import "strings"

// HeadAt returns the beginning of a text, at most n chars, up to the end of a line, sentence or word if one is near.
func HeadAt(text string, n int) string {
	h := Head(text, n)
	if len(h) == len(text) {
		return h
	}
	for _, end := range []string{"\n", ". ", "。", " "} {
		if i := strings.LastIndex(h, end); i > len(h)/2 {
			return strings.TrimRight(h[:i+len(end)], " \n")
		}
	}
	return h
}

// TailAt returns the end of a text, at most n chars, from the beginning of a line, sentence or word if one is near.
func TailAt(text string, n int) string {
	t := Tail(text, n)
	if len(t) == len(text) {
		return t
	}
	for _, end := range []string{"\n", ". ", "。", " "} {
		if i := strings.Index(t, end); i >= 0 && i < len(t)/2 {
			return strings.TrimLeft(t[i+len(end):], " \n")
		}
	}
	return t
}
