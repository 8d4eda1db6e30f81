package transcript

import "strings"

// word is one word of a shell command, as the command gets it.
type word struct {
	text    string
	literal bool // neither expanded nor matched against files: the command gets text itself
	quoted  bool // at least partly
}

// redirect sends a file to a command, or its output to a file.
type redirect struct {
	fd      int    // of the command; both for &>
	op      string // "<", ">", ">>", "<<", "<<<", ">&"
	target  word   // of << its delimiter
	body    string // of <<
	literal bool   // of <<: body is what the command gets
}

// both stands for standard output and standard error.
const both = -1

// simple is one command: its words and where its input and output go.
type simple struct {
	words     []word
	redirects []*redirect
}

// element is one pipeline of a list, and how it hangs on the one before.
type element struct {
	join string // "&&", "||" or ";" ("" for the first)
	pipe []simple
}

// maxShell is the longest command that is read, in bytes, and maxNested how deep substitutions may stand in each other.
const (
	maxShell  = 256 << 10
	maxNested = 32
)

// shellParser reads a list of simple commands. Anything else (control flow, subshells, functions, background jobs)
// stops it: what is not understood for certain is not understood at all.
type shellParser struct {
	s     string
	i     int
	depth int
	bad   bool
	loose bool        // only its plain commands are asked for, wherever they stand
	docs  []*redirect // whose bodies begin after the line
}

// parseShell reads a command line. ok is false where it is more than a list of plain commands.
func parseShell(cmd string) (list []element, ok bool) {
	if len(cmd) > maxShell || strings.ContainsRune(cmd, '\r') { // bash takes it for a part of the word
		return nil, false
	}
	p := &shellParser{s: cmd}
	list = p.list()
	return list, !p.bad && p.i >= len(p.s) && len(p.docs) == 0
}

// Simple is one plain command of a command line.
type Simple struct {
	Join   string   // what stands before it: "" for the first, "&&", "||", ";", "|" or "&"
	Words  []string // without quotes; what the shell expands stands as it is
	Writes bool     // its output goes into a file
}

// SplitCommand gives the plain commands of a command line, those in conditions, loops and subshells among them, with the
// words that make these. It fails where the line substitutes the output of other commands or holds a document: what it
// does is then not told by its words.
func SplitCommand(line string) (all []Simple, ok bool) {
	p := &shellParser{s: line, loose: true}
	for _, e := range p.list() {
		for n, c := range e.pipe {
			one := Simple{Join: e.join}
			if n > 0 {
				one.Join = "|"
			}
			for _, w := range c.words {
				one.Words = append(one.Words, w.text)
			}
			for _, r := range c.redirects {
				one.Writes = one.Writes || r.op[0] == '>' && r.op != ">&" && r.target.text != "/dev/null"
			}
			all = append(all, one)
		}
	}
	return all, !p.bad && p.i >= len(p.s)
}

// list reads to the end, or in a substitution up to its closing parenthesis.
func (p *shellParser) list() (list []element) {
	join := "" // what has been read since the last pipeline
	for !p.bad {
		p.blanks()
		if p.end() {
			p.bad = join == "&&" || join == "||"
			break
		}
		switch op := p.operator(); op {
		case "\n":
			if join == "" && len(list) > 0 {
				join = ";"
			}
		case ";", "&&", "||":
			p.bad = join != "" || len(list) == 0
			join = op
		case "":
			p.bad = join == "" && len(list) > 0 && !p.loose
			list = append(list, element{join: join, pipe: p.pipeline()})
			join = ""
		case "(", ")":
			p.bad = !p.loose
			p.i++
		default:
			p.bad = !p.loose
			p.i += 2 - len(op) // two signs have been read
			join = op[:1]
		}
	}
	return list
}

// end reports whether the list ends here.
func (p *shellParser) end() bool {
	return p.i >= len(p.s) || (p.depth > 0 && p.s[p.i] == ')')
}

// blanks passes over what stands between words: blanks, comments, joined lines.
func (p *shellParser) blanks() {
	for p.i < len(p.s) {
		switch c := p.s[p.i]; {
		case c == ' ' || c == '\t' || c == '\r':
			p.i++
		case c == '\\' && p.i+1 < len(p.s) && p.s[p.i+1] == '\n':
			p.i += 2
		case c == '#':
			for p.i < len(p.s) && p.s[p.i] != '\n' {
				p.i++
			}
		default:
			return
		}
	}
}

// operator reads what joins commands, "" where a word comes. A newline takes the bodies of here-documents with it.
func (p *shellParser) operator() string {
	if p.i >= len(p.s) {
		return ""
	}
	rest := p.s[p.i:]
	switch c := rest[0]; c {
	case '&', '|', ';':
		if len(rest) > 1 && rest[1] == c {
			p.i += 2
			return rest[:2]
		}
	}
	switch rest[0] {
	case ';':
		p.i++
		return ";"
	case '\n':
		p.i++
		p.bodies()
		return "\n"
	case '&':
		if strings.HasPrefix(rest, "&>") {
			return ""
		}
		return "&"
	case '|', '(':
		return rest[:1]
	case ')':
		if p.depth == 0 {
			return ")"
		}
	}
	return ""
}

// bodies reads the here-documents whose operators stood in the line.
func (p *shellParser) bodies() {
	for _, r := range p.docs {
		var b strings.Builder
		found := false
		for p.i < len(p.s) && !found {
			line, rest, more := strings.Cut(p.s[p.i:], "\n")
			p.i = len(p.s) - len(rest)
			if r.op == "<<-" {
				line = strings.TrimLeft(line, "\t")
			}
			if found = line == r.target.text; !found {
				b.WriteString(line)
				b.WriteByte('\n')
			}
			if !more {
				p.i = len(p.s)
			}
		}
		p.bad = p.bad || !found
		r.body, r.op = b.String(), "<<"
		if !r.target.quoted && strings.Contains(r.body, "\\\n") {
			p.bad = true // bash joins these lines before it looks for the delimiter
		}
		r.literal = r.target.quoted || !strings.ContainsAny(r.body, "$`\\")
	}
	p.docs = nil
}

// pipeline reads commands joined by |.
func (p *shellParser) pipeline() (pipe []simple) {
	for !p.bad {
		pipe = append(pipe, p.simple())
		p.blanks()
		if p.bad || p.i >= len(p.s) {
			break
		}
		rest := p.s[p.i:]
		if !strings.HasPrefix(rest, "|") || strings.HasPrefix(rest, "||") {
			break
		}
		p.i++
		if strings.HasPrefix(rest, "|&") {
			p.i++
		}
		for p.blanks(); p.i < len(p.s) && p.s[p.i] == '\n'; p.blanks() {
			p.i++
			p.bodies()
		}
	}
	return pipe
}

// reserved words begin what is not a plain command.
var reserved = map[string]bool{
	"if": true, "then": true, "else": true, "elif": true, "fi": true, "for": true, "while": true, "until": true, "do": true,
	"done": true, "case": true, "esac": true, "function": true, "select": true, "time": true, "coproc": true, "{": true,
	"}": true, "[[": true, "!": true,
}

// simple reads one command.
func (p *shellParser) simple() (c simple) {
	for !p.bad {
		p.blanks()
		if p.end() || strings.IndexByte("\n;|)", p.s[p.i]) >= 0 {
			break
		}
		if p.s[p.i] == '&' && !strings.HasPrefix(p.s[p.i:], "&>") {
			break
		}
		if p.redirected(&c) {
			continue
		}
		w := p.word()
		if len(c.words) == 0 && !w.quoted && reserved[w.text] && !p.loose {
			p.bad = true
		}
		c.words = append(c.words, w)
	}
	p.bad = p.bad || (len(c.words) == 0 && len(c.redirects) == 0)
	return c
}

// redirected reads one redirection, if there is one.
func (p *shellParser) redirected(c *simple) bool {
	i := p.i
	for i < len(p.s) && p.s[i] >= '0' && p.s[i] <= '9' {
		i++
	}
	digits, rest := p.s[p.i:i], p.s[i:]
	if rest == "" || strings.IndexByte("&<>", rest[0]) < 0 {
		return false
	}
	op := ""
	for _, o := range []string{"&>>", "&>", "<<<", "<<-", "<<", "<>", "<&", "<(", ">>", ">&", ">|", ">(", "<", ">"} {
		if strings.HasPrefix(rest, o) {
			op = o
			break
		}
	}
	if op == "" || (digits != "" && op[0] == '&') {
		return false
	}
	r := redirect{op: op}
	switch {
	case len(digits) > 1 || op == "<(" || op == ">(" || op == "<>":
		p.bad = true
		return true
	case digits != "":
		r.fd = int(digits[0] - '0')
	case op[0] == '>':
		r.fd = 1
	case op[0] == '&':
		r.fd, r.op = both, op[1:]
	}
	if r.op == ">|" {
		r.op = ">"
	}
	p.i = i + len(op)
	p.target(c, r)
	return true
}

// target reads what a redirection names.
func (p *shellParser) target(c *simple, r redirect) {
	p.blanks()
	if p.end() || strings.IndexByte("\n;|&()<>", p.s[p.i]) >= 0 {
		p.bad = true
		return
	}
	r.target = p.word()
	if r.op == ">&" && !isDescriptor(r.target.text) {
		r.op, r.fd = ">", both
	}
	c.redirects = append(c.redirects, &r)
	if r.op == "<<" || r.op == "<<-" {
		p.bad = p.bad || !r.target.literal || p.loose
		p.docs = append(p.docs, &r)
	}
}

func isDescriptor(s string) bool { return s == "-" || (len(s) == 1 && s[0] >= '0' && s[0] <= '9') }
