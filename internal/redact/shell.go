package redact

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
)

// flagEnd matches what is between the name of a flag, also in quotes, and its value.
var flagEnd = lazy(`^(?:["'],?)?[ ,]+`)

// flag marks the value of the flag at byte i.
func (s *scan) flag(v *view, i int) {
	text, from := v.text, i+1
	if from < len(text) && text[from] == '-' {
		from++
	}
	end := from
	for end < min(len(text), from+maxName) && classes[text[end]]&nameChar != 0 {
		end++
	}
	if end == from || classes[text[from]]&(upper|lower) == 0 {
		return
	}
	if at := flagEnd().FindIndex(text[end:min(len(text), end+maxGap)]); at != nil && mayBe(text[from:end], &s.ends.all) {
		f := &found{view: v, from: from, end: end, at: i, sign: '-'}
		f.means(s.name(text[from:end]))
		f.lit = s.literal(text, end+at[1])
		if f.kind != "" && f.lit.from < f.lit.to && text[f.lit.from] != '-' && (f.quote != 0 || !isQuote(text[end])) {
			s.value(v, f.lit, f.place(), f.kind)
			return
		}
	}
	if end-from == 1 && text[from] == 'p' && end < len(text) && user().Match(text[max(0, i-maxLead):i]) {
		s.value(v, s.literal(text, end), inText, passwordKind)
		return
	}
	s.commands(v, i)
}

// user matches the name of a user before a flag for the password of any program.
var user = lazy(`\s-u\s+[^\s-]\S*\s+$`)

// commands are what is before the secret in the arguments of each command that words.txt has.
var commands = sync.OnceValue(func() map[string]func() *regexp.Regexp {
	all := map[string]func() *regexp.Regexp{}
	for line := range strings.Lines(wordList) {
		if names, args, _ := strings.Cut(strings.TrimRight(line, "\n"), ":"); line[0] == '$' {
			re := lazy(strings.NewReplacer(" ", between, "~", "(?:"+between+"|=)").Replace(args))
			for name := range strings.FieldsSeq(names) {
				all[name[1:]] = re
			}
		}
	}
	return all
})

// between matches what is between two arguments.
const between = `(?:["']?[,\s]+["']?)`

// commands looks at the commands in the line around byte i.
func (s *scan) commands(v *view, i int) {
	if i < v.shell {
		return
	}
	from := max(v.shell, i-maxValue)
	from += bytes.LastIndexByte(v.text[from:i], '\n') + 1
	if v.shell = nextByte(v.text[:min(len(v.text), i+maxValue)], i, '\n'); v.shell-from < maxValue {
		s.arguments(v, from, v.shell)
	}
}

// arguments marks the secrets in the arguments of the commands in bytes [from, to) of a text.
func (s *scan) arguments(v *view, from, to int) {
	for i := from; i < to; i++ {
		name := i
		for i < to && classes[v.text[i]]&nameChar != 0 {
			i++
		}
		args := commands()[string(v.text[name:i])]
		if args == nil || s.most() < maxValue {
			continue
		}
		s.spent += to - i
		for _, at := range args().FindAllSubmatchIndex(v.text[i:to], -1) {
			l := s.argument(v.text[:to], i, at)
			if n := bytes.IndexAny(v.text[l.from:l.to], ";|&)"); n >= 0 && l.quote == 0 {
				l.to = l.from + n
			}
			if l.from < l.to && v.text[l.from] != '-' {
				s.value(v, lit{from: l.from, to: l.to}, certain, passwordKind)
			}
		}
	}
}

// argument returns what a match in the text from byte i on says is the secret: its group, or the argument behind it.
func (s *scan) argument(text []byte, i int, at []int) lit {
	for group := 2; group < len(at); group += 2 {
		if at[group] >= 0 {
			return lit{from: i + at[group], to: i + at[group+1]}
		}
	}
	from := i + at[1]
	if isQuote(text[from-1]) {
		from--
	}
	if from == len(text) || text[from] <= ' ' {
		return lit{}
	}
	return s.literal(text, from)
}
