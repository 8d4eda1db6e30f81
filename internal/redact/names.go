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

// words are the lists of words.txt.
var words = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	for line := range strings.Lines(wordList) {
		if name, list, _ := strings.Cut(line, ":"); strings.IndexByte("#$", line[0]) < 0 {
			all[name] = append(all[name], strings.Fields(list)...)
		}
	}
	return all
})

// ending is a word with which a name may end, and the list that has it.
type ending struct{ word, list string }

// special are the lists of names whose values are looked at in another way.
var special = []string{"pair", "pair-value", "kind", "header", "cookies", "signature"}

// endings are the words of names by their last three bytes: all of them, and those that a sentence may have.
type endings struct{ all, prose index[ending] }

var ends = sync.OnceValue(func() *endings {
	e := &endings{}
	add := func(word string, one ending) {
		if e.all.add(word[len(word)-3:], one); one.list != "suffix" && !slices.Contains(special, one.list) {
			e.prose.add(word[len(word)-3:], one)
		}
	}
	for _, list := range append(special, "command", "password", "password-alone", "token", "foreign", "token-alone", "weak", "other", "suffix") {
		for _, word := range words()[list] {
			word = strings.TrimPrefix(word, "*")
			one := ending{word, list}
			for c := 0; c < 256 && len(word) == 2; c++ { // what is before it
				if fold(byte(c)) == byte(c) {
					add(string([]byte{byte(c)})+word, one)
				}
			}
			if len(word) > 2 {
				add(word, one)
			}
			if up := strings.ToUpper(word); len(word) > 2 && slot(up[len(up)-3:]) != slot(word[len(word)-3:]) {
				add(up, one)
			}
		}
	}
	return e
})

// stem returns a name without the number or version behind it.
func stem(name []byte) []byte {
	short := bytes.TrimRightFunc(name, func(c rune) bool { return c < 0x80 && classes[c]&joint != 0 })
	if n := len(short); n > 2 && n < len(name) && short[n-1]|0x20 == 'v' && short[n-2] == '_' {
		return short[:n-2]
	}
	return short
}

// tail returns the last three bytes of a text of two or more.
func tail(text []byte) []byte {
	if len(text) == 2 {
		return []byte{' ', text[0], text[1]}
	}
	return text[len(text)-3:]
}

// mayBe reports whether a text may end with a name that says something.
func mayBe(text []byte, of *index[ending]) bool {
	if text = stem(text); len(text) < 2 {
		return false
	}
	list := of.of(tail(text))
	return len(list) > 0 && text[len(text)-1] >= 0x80 || slices.ContainsFunc(list, func(e ending) bool {
		n := len(text) - len(e.word)
		return n >= 0 && beginsWith(text[n:], e.word) && (e.list != "suffix" || n > 0 && classes[text[n-1]]&nameChar != 0)
	})
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

// meaning is what a name says of its value.
type meaning struct {
	kind string // of the secret that it is, "" for none
	is   names
	list string // of words.txt, if it has the name: what looks at the value
}

// place is how sure the place of the value of a member of JSON is.
func (m meaning) place() place {
	if m.is&weak != 0 {
		return inText
	}
	return inConfig
}

// maxNames bounds the names of a session that are remembered.
const maxNames = 4000

// name returns what a name says.
func (s *scan) name(name []byte) meaning {
	if !mayBe(name, &s.ends.all) {
		return meaning{}
	}
	m, ok := s.names[string(name)]
	if !ok && len(name) > 1 && len(name) <= maxName {
		m = meaningOf(name)
		if len(s.names) < maxNames {
			s.names[string(name)] = m
		}
	}
	return m
}

func meaningOf(name []byte) (m meaning) {
	m.kind, m.is = says(name)
	flat := squeeze(nil, name)
	for _, list := range append(special, "command") {
		if slices.ContainsFunc(words()[list], func(w string) bool { return w == string(flat) || w[0] == '*' && hasEnd(flat, w[1:]) }) {
			m.list = list
		}
	}
	note := func(is bool, what names) {
		if is && m.kind != "" {
			m.is |= what
		}
	}
	note(string(name) == "pass", short)
	note(hasEnd(flat, "phrase"), phrase)
	note(isUpper(name), upperIs)
	note(bytes.IndexByte(name, '.') > 0, dotted)
	note(name[len(name)-1] >= 0x80, foreign)
	note(name[0] == '_', private)
	note(slices.Contains(words()["setting"], string(name)), setting)
	return m
}

// says returns the kind of secret that a name says its value is, "" for none. It is weak if the name may say something else.
func says(name []byte) (kind string, is names) {
	if len(name) > maxName {
		return "", 0
	}
	var flat [maxName]byte
	if name = stem(name); slices.ContainsFunc(name, func(c byte) bool { return c >= 0x80 }) {
		name = bytes.ToLower(name)
	}
	for rest := name; kind == "" && mayBe(rest, &ends().all); name = stem(rest) {
		if kind, is, rest = last(name, squeeze(flat[:0], name)); rest == nil {
			break
		}
	}
	return kind, is
}

// last returns what the last word of a name says, or what is before it if that may say it.
func last(name, flat []byte) (kind string, is names, rest []byte) {
	if len(flat) < 2 {
		return "", 0, nil
	}
	for _, e := range ends().all.of(tail(flat)) {
		if !hasEnd(flat, e.word) {
			continue
		}
		alone := beginsWord(name, e.word)
		switch {
		case e.list == "password", e.list == "password-alone" && alone:
			return passwordKind, 0, nil
		case e.list == "token", e.list == "foreign", e.list == "token-alone" && alone && (len(flat) > 4 || name[0] == '_'):
			return apiKind, 0, nil
		case e.list == "weak" && alone:
			if e.word == "pass" && len(flat) > len("pass") && isUpper(name) {
				return passwordKind, 0, nil
			}
			return passwordKind, weak, nil
		case e.word == "key":
			before := func(word string) bool { return hasEnd(flat[:len(flat)-len("key")], word) }
			if slices.ContainsFunc(words()["key"], before) {
				return apiKind, 0, nil
			}
			if bytes.HasSuffix(name, []byte("_KEY")) && !slices.ContainsFunc(words()["open-key"], before) {
				return apiKind, weak, nil
			}
		case e.list == "suffix" && alone && len(flat) > len(e.word):
			rest = name[:len(name)-len(e.word)]
		}
	}
	return "", 0, rest
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
