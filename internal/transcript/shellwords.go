package transcript

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"ccd/internal/lazy"
)

// word is one word of a shell command after quote removal.
type word struct {
	text    string // expansions are not replaced
	literal bool   // neither expanded nor a glob: the command gets exactly text
}

// redirect is an input or output redirection.
type redirect struct {
	fd      int    // of the command; both for &>
	op      string // "<", ">", ">>", "<<", "<<<", ">&"
	target  word   // of <<: the delimiter
	body    string // of <<
	literal bool   // of <<: body is not expanded
}

const both = -1

// simple is one command: its words without variable assignments, and its redirections.
type simple struct {
	join      string // operator before it: "" for the first, "&&", "||", ";", "|" or "&"
	words     []word
	redirects []*redirect
}

// Limits for a command: bytes, nesting of brackets, and number of backquotes. The parser recurses for each level and
// reparses text between backquotes, so a transcript could otherwise exhaust the daemon's stack or time.
const (
	maxShell  = 64 << 10
	maxNested = 500
)

func tooDeep(cmd string) bool {
	open := 0
	if strings.Count(cmd, "`") > maxNested {
		return true
	}
	for i := range len(cmd) {
		switch cmd[i] {
		case '(', '[', '{':
			open++
		case ')', ']', '}':
			open = max(0, open-1)
		}
		if open > maxNested {
			return true
		}
	}
	return false
}

// shellLine is a parsed command line.
type shellLine struct {
	source  string
	list    []simple
	join    string             // operator before the next command
	grouped bool               // some commands are in a group, a condition, a loop or the background
	inner   []*syntax.CmdSubst // command substitutions in its words and here-documents
	bad     bool               // it contains an unsupported construct: a function, a coprocess
}

// readShell parses a command line; ok is false if bash would not accept it.
func readShell(cmd string) (l shellLine, ok bool) {
	if len(cmd) > maxShell || tooDeep(cmd) {
		return l, false
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(cmd), "")
	if err != nil {
		return l, false
	}
	l.source = cmd
	l.statements(file.Stmts)
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			l.inner = append(l.inner, n)
		case *syntax.ProcSubst, *syntax.FuncDecl, *syntax.CoprocClause:
			l.bad = true
		}
		return true
	})
	return l, !l.bad
}

// parseShell parses a command line. ok is false unless it is a list of plain commands, because anything else cannot be
// interpreted with certainty.
func parseShell(cmd string) (list []simple, ok bool) {
	if strings.ContainsRune(cmd, '\r') { // bash treats it as part of the word
		return nil, false
	}
	l, ok := readShell(cmd)
	return l.list, ok && !l.grouped
}

// Simple is one plain command of a command line.
type Simple struct {
	Join   string   // operator before it: "" for the first, "&&", "||", ";", "|" or "&"
	Words  []string // without quotes; expansions are not replaced
	Writes bool     // its output goes to a file
}

// SplitCommand returns the plain commands of a command line, including those in conditions, loops, subshells and substitutions;
// these come first. It fails if bash would not accept the line.
func SplitCommand(line string) (all []Simple, ok bool) {
	l, ok := readShell(line)
	inner := shellLine{source: l.source}
	for _, s := range l.inner {
		inner.statements(s.Stmts)
	}
	for _, c := range append(inner.list, l.list...) {
		one := Simple{Join: c.join}
		for _, w := range c.words {
			one.Words = append(one.Words, w.text)
		}
		for _, r := range c.redirects {
			one.Writes = one.Writes || r.op[0] == '>' && r.op != ">&" && r.target.text != "/dev/null"
		}
		all = append(all, one)
	}
	return all, ok
}

func (l *shellLine) statements(all []*syntax.Stmt) {
	for _, s := range all {
		l.statement(s)
		if l.join = ";"; s.Background {
			l.join, l.grouped = "&", true
		}
	}
}

func (l *shellLine) statement(s *syntax.Stmt) {
	l.grouped = l.grouped || s.Negated
	switch c := s.Cmd.(type) {
	case nil:
		l.command(nil, s)
		return
	case *syntax.CallExpr:
		l.command(c.Args, s)
		return
	case *syntax.DeclClause: // export and similar commands
		l.command([]*syntax.Word{{Parts: []syntax.WordPart{c.Variant}}}, s)
		return
	case *syntax.BinaryCmd:
		l.statement(c.X)
		if l.join = c.Op.String(); c.Op == syntax.PipeAll {
			l.join = "|"
		}
		l.statement(c.Y)
		return
	default:
		l.compound(c, s)
	}
}

// compound adds the commands of a group, a condition or a loop. A construct without commands, such as [[, is added
// itself.
func (l *shellLine) compound(c syntax.Command, s *syntax.Stmt) {
	before := len(l.list)
	syntax.Walk(c, func(n syntax.Node) bool {
		inner, is := n.(*syntax.Stmt)
		if is {
			l.statements([]*syntax.Stmt{inner})
		}
		return !is
	})
	if l.grouped = true; len(l.list) == before || len(s.Redirs) > 0 {
		l.command([]*syntax.Word{{Parts: []syntax.WordPart{&syntax.Lit{Value: "[["}}}}, s)
	}
}

// command adds one plain command.
func (l *shellLine) command(args []*syntax.Word, s *syntax.Stmt) {
	c := simple{join: l.join}
	for _, w := range args {
		c.words = append(c.words, l.word(w))
	}
	for _, r := range s.Redirs {
		l.redirect(&c, r)
	}
	l.list = append(l.list, c)
}

func (l *shellLine) redirect(c *simple, r *syntax.Redirect) {
	out := redirect{op: r.Op.String(), target: l.word(r.Word)}
	switch {
	case r.N != nil && (len(r.N.Value) != 1 || r.N.Value[0] > '9'), r.Op == syntax.RdrInOut:
		l.bad = true
		return
	case r.N != nil:
		out.fd = int(r.N.Value[0] - '0')
	case out.op[0] == '>':
		out.fd = 1
	case out.op[0] == '&':
		out.fd, out.op = both, out.op[1:]
	}
	switch {
	case out.op == ">|":
		out.op = ">"
	case out.op == ">&" && !descriptor().MatchString(out.target.text):
		out.op, out.fd = ">", both
	case r.Hdoc != nil:
		out.op, out.literal = "<<", isQuoted(r.Word) || !strings.ContainsAny(l.between(r.Hdoc), "$`\\")
		for _, part := range r.Hdoc.Parts {
			if lit, ok := part.(*syntax.Lit); ok {
				out.body += lit.Value
			} else {
				out.body += l.between(part)
			}
		}
		if r.Op == syntax.DashHdoc {
			out.body = strings.ReplaceAll(strings.TrimLeft(out.body, "\t"), "\n\t", "\n")
		}
	case out.op == "<<": // the here-document is empty
		out.literal = true
	}
	c.redirects = append(c.redirects, &out)
}

var descriptor = lazy.Regexp(`^[-0-9]$`)

// between returns the source text of a node.
func (l *shellLine) between(n syntax.Node) string {
	return l.source[n.Pos().Offset():n.End().Offset()]
}

func isQuoted(w *syntax.Word) bool {
	for _, part := range w.Parts {
		if lit, ok := part.(*syntax.Lit); !ok || strings.Contains(lit.Value, `\`) {
			return true
		}
	}
	return false
}

func (l *shellLine) word(w *syntax.Word) word {
	out := word{literal: true}
	for i, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			out.plain(part.Value, i == 0)
		case *syntax.SglQuoted:
			out.literal = out.literal && !part.Dollar
			out.text += part.Value
		case *syntax.DblQuoted:
			out.literal = out.literal && !part.Dollar
			for _, inner := range part.Parts {
				if lit, ok := inner.(*syntax.Lit); ok {
					out.text += unescaped.Replace(lit.Value)
					continue
				}
				out.text, out.literal = out.text+l.between(inner), false
			}
		default:
			out.text, out.literal = out.text+l.between(part), false
		}
	}
	return out
}

// unescaped removes the backslashes that are escapes inside double quotes.
var unescaped = strings.NewReplacer(`\\`, `\`, `\$`, `$`, "\\`", "`", `\"`, `"`, "\\\n", "")

// plain adds unquoted text.
func (w *word) plain(text string, first bool) {
	if !strings.ContainsAny(text, `\*?[{~`) {
		w.text += text
		return
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			i++
			if separates(w.text, text[i]) {
				w.text += `\`
			}
			if text[i] != '\n' {
				w.text += text[i : i+1]
			}
			continue
		case expands(text, i, first):
			w.literal = false
		}
		w.text += text[i : i+1]
	}
}

// expands reports whether a shell makes something else of the character at i; first: the text begins a word. Tools name a file below
// the home directory as ~/name, too.
func expands(text string, i int, first bool) bool {
	switch text[i] {
	case '*', '?', '[', '{':
		return true
	case '~':
		if i == 0 {
			return first && !strings.HasPrefix(text, "~/")
		}
		return text[i-1] == '=' || text[i-1] == ':'
	}
	return false
}

// separates reports whether a backslash before c is a path separator, as in Windows shells. Bash would remove it, but
// then the file does not exist and the exit status shows it.
func separates(before string, c byte) bool {
	switch {
	case before == "":
		return false // \rm
	case isLetter(c), c >= '0' && c <= '9', c == '_':
		return true
	case c != '.' && c != '-':
		return false
	}
	return strings.ContainsAny(before, `\:`) || strings.Trim(before, ".") == ""
}

// Run is a command without the parts that do not affect its meaning, to recognize repeated runs.
type Run struct {
	Dir     string // where it runs, "" if unknown
	Command string
}

var (
	// changesDir matches a leading "cd DIR &&"; its groups are the directory and the rest.
	changesDir = lazy.Regexp("(?s)^cd +([^\\s;&|$`]+)[ \\t]*(?:&&|;|\\n)\\s*(\\S.*)$")
	// prefixed matches a leading variable, a time limit, or a command that runs another one; one of its groups is the rest.
	prefixed = lazy.Regexp("(?s)^(?:[A-Za-z_]\\w*=[^\\s'\"$`;&|<>(]*|timeout(?: +-(?:[ks]|-signal|-kill-after) +\\S+| +-\\S+)* +\\d[\\d.smhd]*) +(\\S.*)$|" +
		"^(?:env|sudo|command|time) +([^\\s-].*)$")
	// filtered matches what only joins or shortens the output; its group is the character before a pipe.
	filtered = lazy.Regexp("(?:2>&1|([^|])\\|[ \\t]*(?:head|tail)(?: [^|\\n'\"`;&$()<>]*)?)$")
)

// NormalizeRun removes from a command that runs in dir leading directory changes, variables and time limits, and
// filters that only shorten or join its output.
func NormalizeRun(dir, cmd string) Run {
	r := Run{Dir: dir, Command: strings.TrimSpace(cmd)}
	if len(cmd) > maxShell { // each step scans the rest of the command
		return r
	}
	for range maxNested {
		if at := changesDir().FindStringSubmatch(r.Command); at != nil {
			r.Dir, r.Command = joinDir(r.Dir, strings.Trim(at[1], `'"`)), at[2]
		} else if at := prefixed().FindStringSubmatch(r.Command); at != nil {
			r.Command = at[1] + at[2]
		} else {
			break
		}
	}
	for range maxNested {
		without := strings.TrimSpace(filtered().ReplaceAllString(r.Command, "$1"))
		if without == r.Command {
			break
		}
		r.Command = without
	}
	return r
}
