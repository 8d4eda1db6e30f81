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

// said is a word and the list that has it.
type said struct{ word, list string }

// endings are the words of names by their last three bytes.
type endings struct {
	known bits // also of commands that take a secret in no flag
	words map[uint32][]said
}

var ends = sync.OnceValue(func() *endings {
	e := &endings{words: map[uint32][]said{}}
	for _, list := range []string{"password", "password-alone", "token", "foreign", "token-alone", "weak", "pair-value", "other", "suffix"} {
		for _, word := range words()[list] {
			for c := range 256 { // what is before a word of two letters
				w := string([]byte{byte(c)}) + word
				k := e.known.note(w[len(w)-3:])
				if len(word) > 2 || c < 0x80 && c|0x20 == c {
					e.words[k] = append(e.words[k], said{word, list})
				}
				if up := string([]byte{byte(c)}) + strings.ToUpper(word); len(word) > 2 && c > 0 {
					e.known.note(up[len(up)-3:])
					break
				}
			}
		}
	}
	for name := range words() {
		if takesSecret([]byte(strings.TrimPrefix(name, "$"))) {
			e.known.note(name[len(name)-3:])
		}
	}
	return e
})

// takesSecret reports whether a command takes a secret that no flag is before.
func takesSecret(name []byte) bool {
	return slices.ContainsFunc(words()["$"+string(name)], func(f string) bool { return f[0] != '-' })
}

// stem returns a name without the number or version behind it.
func stem(name []byte) []byte {
	trim := func() {
		for n := len(name); n > 0 && (classes[name[n-1]]&(digit|nameChar) != 0 && classes[name[n-1]]&(upper|lower) == 0 && name[n-1] < 0x80); n-- {
			name = name[:n-1]
		}
	}
	trim()
	if n := len(name); n > 2 && name[n-1]|0x20 == 'v' && classes[name[n-2]]&alnum == 0 {
		name = name[:n-1]
		trim()
	}
	return name
}

// mayBe reports whether a name may say something, by its last three bytes.
func mayBe(name []byte) bool { return mayEnd(stem(name)) }

// mayEnd reports the same of a stem.
func mayEnd(name []byte) bool {
	if n := len(name); n >= 3 {
		return ends().known.has(name[n-3:])
	}
	return len(name) == 2 && ends().known.has([]byte{' ', name[0], name[1]})
}

// squeeze returns a name in small letters without what divides its words.
func squeeze(name []byte) string {
	out := make([]byte, 0, len(name))
	for _, c := range name {
		switch {
		case classes[c]&upper != 0:
			out = append(out, c|0x20)
		case classes[c]&lower != 0 || c >= 0x80:
			out = append(out, c)
		}
	}
	return string(out)
}

// isOf reports whether a list of words.txt has a name.
func isOf(list string, name []byte) bool {
	return len(name) < 16 && slices.Contains(words()[list], squeeze(name))
}

// says returns the kind of secret that a name says its value is, "" for none. It is weak if the name may say something else.
func says(name []byte) (kind string, weak bool) {
	whole := name
	if name = stem(name); len(whole) > maxName || !mayEnd(name) {
		return "", false
	}
	if slices.ContainsFunc(name, func(c byte) bool { return c >= 0x80 }) {
		name = bytes.ToLower(name)
	}
	for range 3 {
		kind, weak, rest := last(name, squeeze(name))
		if kind != "" || rest == nil {
			return kind, weak
		}
		name = stem(rest)
	}
	return "", false
}

// last returns what the last word of a name says, or what is before it if that may say it.
func last(name []byte, flat string) (kind string, weak bool, rest []byte) {
	key := "   " + flat // which may be empty
	k, _ := three(key[len(key)-3:])
	for _, s := range ends().words[k] {
		if !strings.HasSuffix(flat, s.word) {
			continue
		}
		alone := beginsWord(name, s.word)
		switch {
		case s.list == "password", s.list == "password-alone" && alone:
			return passwordKind, false, nil
		case s.list == "token", s.list == "foreign", s.list == "token-alone" && alone && (len(flat) > 4 || name[0] == '_'):
			return apiKind, false, nil
		case s.list == "weak" && alone:
			return passwordKind, s.word != "pass" || len(flat) == len("pass") || !isUpper(name), nil
		case s.word == "key":
			before := func(word string) bool { return strings.HasSuffix(flat[:len(flat)-len("key")], word) }
			if slices.ContainsFunc(words()["key"], before) {
				return apiKind, false, nil
			}
			if bytes.HasSuffix(name, []byte("_KEY")) && !slices.ContainsFunc(words()["open-key"], before) {
				return apiKind, true, nil
			}
		case s.list == "suffix" && alone && len(flat) > len(s.word):
			rest = name[:len(name)-len(s.word)]
		}
	}
	return "", false, rest
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
