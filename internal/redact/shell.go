package redact

import (
	"bytes"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word is an argument of a command: bytes [from, to) of a view.
type word struct {
	*view
	from, to int
}

// String returns the text of an argument.
func (w word) String() string { return string(w.text[w.from:w.to]) }

// flagEnd matches what is between the name of a flag, also in quotes, and its value.
var flagEnd = lazy(`^(?:["'],?)?[ ,]+`)

// flag marks the value of the flag at byte i.
func (s *scan) flag(v *view, i int) {
	text, from := v.text, i+1
	if from < len(text) && text[from] == '-' {
		from++
	}
	end := from
	for end < min(len(text), from+maxName) && classes[text[end]]&nameChar != 0 || end < len(text) && end > from && text[end] == '-' {
		end++
	}
	if end == from || classes[text[from]]&(upper|lower) == 0 {
		return
	}
	if at := flagEnd().FindIndex(text[end:min(len(text), end+maxGap)]); at != nil && mayBe(text[from:end]) {
		f := &found{view: v, from: from, end: end, at: i, sign: '-'}
		f.means(s.name(text[from:end]))
		f.lit = s.literal(text, end+at[1])
		if f.kind != "" && f.lit.from < f.lit.to && text[f.lit.from] != '-' && (f.quote != 0 || !isQuote(text[end])) {
			s.value(v, f.lit, f.place(), f.kind)
			return
		}
	}
	if strings.IndexByte("pPawkuUbsKSN", text[from]) >= 0 {
		s.commands(v, i)
	}
}

// commandWord matches where a command of logins, or one that pipes a secret, begins in a line.
var commandWord = lazy(`[\w./-]+`)

// commands looks at the commands in the line around byte i.
func (s *scan) commands(v *view, i int) {
	if i < v.shell {
		return
	}
	least := max(v.shell, i-maxValue)
	from, to := bytes.LastIndexByte(v.text[least:i], '\n')+1+least, nextByte(v.text[:min(len(v.text), i+maxValue)], i, '\n')
	if v.shell = to; to-from >= maxValue {
		return
	}
	line := v.text[from:to]
	for _, at := range commandWord().FindAllIndex(line, -1) {
		name := line[at[0]:at[1]]
		name = name[bytes.LastIndexByte(name, '/')+1:]
		flags, isCommand := commands()[string(name)]
		if !isCommand || flags != nil && flags[0] == "|" && bytes.IndexByte(line, '|') < 0 {
			continue
		}
		if string(name) == "login" { // from the command before it
			at[0] = bytes.LastIndexByte(bytes.TrimRight(line[:at[0]], " "), ' ') + 1
		}
		end := len(line)
		if at[0] > 0 && bytes.IndexByte([]byte("\"'`"), line[at[0]-1]) >= 0 {
			end = nextByte(line, at[0], line[at[0]-1])
		}
		s.parse(v, from+at[0], from+end)
		return
	}
}

// parse looks at the commands in bytes [from, to) of a text.
func (s *scan) parse(v *view, from, to int) {
	file, _ := syntax.NewParser().Parse(bytes.NewReader(v.text[from:to]), "") // of what is no command, up to where it is one
	if file == nil {
		return
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			s.command(wordsOf(v, from, n))
		case *syntax.BinaryCmd:
			a, ok := n.X.Cmd.(*syntax.CallExpr)
			b, also := n.Y.Cmd.(*syntax.CallExpr)
			if ok && also && n.Op == syntax.Pipe {
				s.piped(wordsOf(v, from, a), wordsOf(v, from, b))
			}
		}
		return true
	})
}

func wordsOf(v *view, from int, call *syntax.CallExpr) (all []word) {
	for _, w := range call.Args {
		one := word{v, from + int(w.Pos().Offset()), from + int(w.End().Offset())}
		if c := v.text[one.from]; one.to-one.from > 2 && (c == '"' || c == '\'') && v.text[one.to-1] == c {
			one.from, one.to = one.from+1, one.to-1
		}
		all = append(all, one)
	}
	return all
}

// piped marks what a command reads from echo: a secret, or a user and a secret.
func (s *scan) piped(from, to []word) {
	if len(from) < 2 || len(to) == 0 || !slices.Contains([]string{"echo", "printf"}, from[0].String()) {
		return
	}
	for _, w := range to {
		switch w.String() {
		case "chpasswd":
			s.secret(from[len(from)-1], ':')
		case "--password-stdin", "--with-token", "--stdin", "-S", "--passphrase-fd", "passwd", "--pass-stdin", "secret":
			s.secret(from[len(from)-1], 0)
		}
	}
}

// command marks the secrets in the arguments of a command.
func (s *scan) command(args []word) {
	if len(args) < 2 || args[0].to-args[0].from > maxName {
		return
	}
	name := args[0].text[args[0].from:args[0].to]
	name = name[bytes.LastIndexByte(name, '/')+1:]
	flags, known := commands()[string(name)]
	if known && args[1].to-args[1].from < maxName {
		flags = append(flags[:len(flags):len(flags)], commands()[string(name)+"/"+args[1].String()]...)
	}
	if slices.ContainsFunc(args[1:min(len(args), 4)], func(w word) bool { return string(w.text[w.from:w.to]) == "login" }) {
		flags = append(flags[:len(flags):len(flags)], "-p", "--password", "--token")
	}
	if len(flags) == 0 {
		return
	}
	for i, w := range args[1:] {
		if w.to-w.from > maxValue {
			continue
		}
		for _, f := range flags {
			s.argument(args, i+1, f)
		}
	}
}

// argument marks the secret that argument i is, or that is behind it, if it is the flag f of words.txt.
func (s *scan) argument(args []word, i int, f string) {
	w, last, after := args[i], len(args)-1, byte(0)
	text := w.String()
	if c := f[len(f)-1]; len(f) > 2 && strings.IndexByte(":%,", c) >= 0 {
		after, f = c, f[:len(f)-1]
	}
	switch rest, attached := strings.CutSuffix(f, "*"); {
	case attached && strings.HasPrefix(text, rest) && len(text) > len(rest) && text[1] != '-':
		s.secret(word{w.view, w.from + len(rest), w.to}, after)
	case f[0] == '-' && strings.HasPrefix(text, f+"="):
		s.secret(word{w.view, w.from + len(f) + 1, w.to}, after)
	case f == "/" && i == 1 && strings.IndexByte(text, '@') > 0:
		s.secret(word{w.view, w.from, w.from + strings.IndexByte(text, '@')}, '/')
	case f == "$" && i == last, f[len(f)-1] == '$' && text == f[:len(f)-1] && last > i+2:
		s.secret(args[last], 0)
	case text == f && i < last && (f[0] == '-' || args[i+1].text[args[i+1].from] != '-'):
		s.secret(args[i+1], after)
	}
}

// secret marks an argument, or what is behind a byte of it.
func (s *scan) secret(w word, after byte) {
	from := w.from
	if after != 0 {
		n := bytes.IndexByte(w.text[from:w.to], after)
		if n < 0 {
			return
		}
		from += n + 1
	}
	to := w.to
	if to-from > 2 && isQuote(w.text[from]) && w.text[to-1] == w.text[from] {
		from, to = from+1, to-1
	}
	s.value(w.view, lit{from: from, to: to}, certain, passwordKind)
}
