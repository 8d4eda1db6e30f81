package redact

import (
	"bytes"
	_ "embed" // the words
	"slices"
	"strings"
	"sync"
)

//go:embed words.txt
var wordList string

// words are the lists of words.txt. Those of "$mysql" are the arguments of a command.
var words = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	for line := range strings.Lines(wordList) {
		if line[0] == '#' {
			continue
		}
		names, list, _ := strings.Cut(line, ":")
		for name := range strings.FieldsSeq(names) {
			all[name] = append(all[name], strings.Fields(list)...)
		}
	}
	return all
})

// ending is a word with which a name may end, and the list that has it.
type ending struct{ word, list string }

// endings are the words of names by their last three bytes.
type endings struct {
	known bits // also of commands that take a secret in no flag
	words map[uint32][]ending
	takes map[string]bool // these commands
}

var ends = sync.OnceValue(func() *endings {
	e := &endings{words: map[uint32][]ending{}, takes: map[string]bool{}}
	for _, list := range []string{"password", "password-alone", "token", "foreign", "token-alone", "weak", "pair-value", "kind", "other", "suffix"} {
		for _, word := range words()[list] {
			for c := range 256 { // what is before a word of two letters
				w := string([]byte{byte(c)}) + word
				k := e.known.note(w[len(w)-3:])
				if len(word) > 2 || c < 0x80 && c|0x20 == c {
					e.words[k] = append(e.words[k], ending{word, list})
				}
				if up := string([]byte{byte(c)}) + strings.ToUpper(word); len(word) > 2 && c > 0 {
					e.known.note(up[len(up)-3:])
					break
				}
			}
		}
	}
	for name, flags := range words() {
		if name[0] == '$' && slices.ContainsFunc(flags, func(f string) bool { return f[0] != '-' }) {
			e.takes[name[1:]] = true
			e.known.note(name[len(name)-3:])
		}
	}
	return e
})

// stem returns a name without the number behind it.
func stem(name []byte) []byte {
	n := len(name)
	for n > 0 && classes[name[n-1]]&joint != 0 {
		n--
	}
	return name[:n]
}

// mayBe reports whether a name may say something, by its last three bytes.
func mayBe(name []byte) bool {
	if name = stem(name); len(name) == 2 {
		return ends().known.has([]byte{' ', name[0], name[1]})
	}
	return len(name) > 2 && ends().known.has(name[len(name)-3:])
}

// squeeze appends a name to out, in small letters and without what divides its words.
func squeeze(out, name []byte) []byte {
	for _, c := range name {
		switch {
		case classes[c]&upper != 0:
			out = append(out, c|0x20)
		case classes[c]&lower != 0 || c >= 0x80:
			out = append(out, c)
		}
	}
	return out
}

// said is what a name says.
type said struct {
	kind string // of the secret that its value is, "" for none
	weak bool   // it may say something else
}

// says returns what a name says.
func says(name []byte) (s said) {
	if len(name) > maxName || len(name) < 2 {
		return s
	}
	var flat [maxName]byte
	if name = stem(name); slices.ContainsFunc(name, func(c byte) bool { return c >= 0x80 }) {
		name = bytes.ToLower(name)
	}
	for rest := name; s.kind == "" && mayBe(rest); name = stem(rest) {
		if s.kind, s.weak, rest = last(name, squeeze(flat[:0], name)); rest == nil {
			break
		}
	}
	return s
}

// last returns what the last word of a name says, or what is before it if that may say it.
func last(name, flat []byte) (kind string, weak bool, rest []byte) {
	key := flat
	for len(key) < 3 { // it may be empty
		key = append([]byte(" "), key...)
	}
	k, _ := three(key[len(key)-3:])
	for _, e := range ends().words[k] {
		if !hasEnd(flat, e.word) {
			continue
		}
		alone := beginsWord(name, e.word)
		switch {
		case e.list == "password", e.list == "password-alone" && alone:
			return passwordKind, false, nil
		case e.list == "token", e.list == "foreign", e.list == "token-alone" && alone && (len(flat) > 4 || name[0] == '_'):
			return apiKind, false, nil
		case e.list == "weak" && alone:
			return passwordKind, e.word != "pass" || len(flat) == len("pass") || !isUpper(name), nil
		case e.word == "key":
			before := func(word string) bool { return hasEnd(flat[:len(flat)-len("key")], word) }
			if slices.ContainsFunc(words()["key"], before) {
				return apiKind, false, nil
			}
			if bytes.HasSuffix(name, []byte("_KEY")) && !slices.ContainsFunc(words()["open-key"], before) {
				return apiKind, true, nil
			}
		case e.list == "suffix" && alone && len(flat) > len(e.word):
			rest = name[:len(name)-len(e.word)]
		}
	}
	return "", false, rest
}

func hasEnd(text []byte, end string) bool {
	n := len(text) - len(end)
	return n >= 0 && string(text[n:]) == end
}

func isUpper(name []byte) bool {
	return !slices.ContainsFunc(name, func(c byte) bool { return classes[c]&lower != 0 || c >= 0x80 })
}

// beginsWord reports whether the word with which a name ends is a word of it.
func beginsWord(name []byte, word string) bool {
	i := len(name) - len(word)
	if i <= 0 || !strings.EqualFold(string(name[i:]), word) {
		return i == 0
	}
	a, b := classes[name[i-1]], classes[name[i]]
	return a&(upper|lower) == 0 && name[i-1] < 0x80 || b&upper != 0 && a&lower != 0 || name[i-1] >= 0x80 && name[i] < 0x80
}
