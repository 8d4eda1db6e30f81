package codex

import (
	"slices"
	"strings"

	"ccd/internal/transcript"
)

// In code mode (0.144 and later) the model has one tool, exec, whose input is JavaScript that calls the other tools. unwrap
// says what a script does as one call of a tool that Codex also has outside of code mode.

const (
	scriptTool = "exec"
	waitTool   = "wait" // gives a script that still runs more time

	fileURL = "file://"
)

// unwrap returns what a call of a wrapper does. Events report commands and changes in a form of their own.
func unwrap(tool string, input []byte) []transcript.Called {
	in := transcript.Node{Raw: input}
	switch {
	case tool == waitTool:
		if cell := transcript.Arguments(input).Field("cell_id"); cell.Has() {
			return []transcript.Called{{Tool: "write_stdin", Args: []byte(`{"session_id":` + string(cell.Raw) + `}`)}}
		}
	case tool == "exec_command" && strings.HasPrefix(in.Field("cwd").Text(), fileURL):
		name, args := shell(transcript.CommandLine(in.Field("command")), strings.TrimPrefix(in.Field("cwd").Text(), fileURL))
		return []transcript.Called{{Tool: name, Args: args}}
	case tool == "apply_patch" && in.Field("changes").Is('{'):
		return []transcript.Called{{Tool: tool, Args: transcript.Quote(patchOf(in.Field("changes")))}}
	case tool == scriptTool:
		calls, _ := readScript(scriptOf(in))
		return calls
	}
	return nil
}

// scriptOf returns the script in an input: the text, or an argument of one.
func scriptOf(input transcript.Node) string {
	if args := transcript.Arguments(input.Raw); args.Is('{') {
		if code := args.Field("code"); code.Is('"') {
			return code.Text()
		}
		return args.Field("input").Text()
	}
	return input.Text()
}

// patchOf returns the changes that an event reports as a patch.
func patchOf(changes transcript.Node) string {
	var b strings.Builder
	b.WriteString(transcript.PatchBegin + "\n")
	for key, change := range changes.Members() {
		path := string(key)
		switch change.Field("type").Text() {
		case "add":
			b.WriteString("*** Add File: " + path + "\n")
			for line := range strings.Lines(change.Field("content").Text()) {
				b.WriteString("+" + strings.TrimSuffix(line, "\n") + "\n")
			}
		case "delete":
			b.WriteString("*** Delete File: " + path + "\n")
		default:
			b.WriteString("*** Update File: " + path + "\n")
			if to := change.Field("move_path").Text(); to != "" {
				b.WriteString("*** Move to: " + to + "\n")
			}
			for line := range strings.Lines(change.Field("unified_diff").Text()) {
				if strings.HasPrefix(line, "@@") {
					line = "@@\n"
				}
				b.WriteString(strings.TrimSuffix(line, "\n") + "\n")
			}
		}
	}
	return b.String() + transcript.PatchEnd
}

// textOf returns an argument of a call, or the only one.
func textOf(c transcript.Called, name string) string {
	n := transcript.Node{Raw: c.Args}
	if n.Is('"') {
		return n.Text()
	}
	others := map[string]string{"cmd": "command", "input": "patch"}
	for _, name := range []string{name, others[name]} {
		if v := n.Field(name); v.Is('"') {
			return v.Text()
		} else if v.Is('[') {
			return transcript.CommandLine(v)
		}
	}
	return ""
}

// whole reports whether a call has the argument that says what it does.
func whole(c transcript.Called) bool {
	switch c.Tool {
	case "exec_command", "shell_command", "shell":
		return textOf(c, "cmd") != ""
	case "apply_patch":
		return strings.Contains(textOf(c, "input"), transcript.PatchBegin)
	}
	return true
}

// readScript returns the calls of tools in a script, in the order in which they are written. opaque reports that there are
// others, whose tool or arguments only a run of the script would show.
func readScript(text string) (calls []transcript.Called, opaque bool) {
	s := &script{text: text, texts: map[string]string{}}
	for !s.done() {
		name, ok := s.name()
		if !ok {
			s.skip()
			continue
		}
		switch s.space(); {
		case name == "const" || name == "let" || name == "var":
			s.declare()
			continue
		case name == "tools" && s.take("."):
			name, _ = s.name()
		case name == "tools" && s.take("["):
			value, ok := s.value()
			opaque = opaque || !ok
			name = transcript.Node{Raw: []byte(value)}.Text()
			s.take("]")
		case name == "exec_command" || name == "apply_patch": // taken out of tools before
		default:
			continue
		}
		if s.space(); !s.take("(") {
			continue
		}
		at := s.at
		c := transcript.Called{Tool: name, Args: []byte("{}")}
		if value, ok := s.value(); ok {
			c.Args = []byte(value)
		} else {
			s.at = at // the arguments may call tools themselves
		}
		if whole(c) && name != "" {
			calls = append(calls, c)
		} else {
			opaque = true
		}
	}
	return calls, opaque || s.tired()
}

// script reads JavaScript as far as it consists of literals.
type script struct {
	text  string
	at    int
	texts map[string]string // JSON of the constants

	skipped int // bytes, also those that were skipped before
}

func (s *script) done() bool { return s.at >= len(s.text) || s.tired() }

// tired reports whether more was skipped than a script that a model writes can need: calls nested in calls are read again.
func (s *script) tired() bool { return s.skipped > 8*len(s.text) }

func (s *script) take(what string) bool {
	if !strings.HasPrefix(s.text[min(s.at, len(s.text)):], what) {
		return false
	}
	s.at += len(what)
	return true
}

// space skips white space and comments.
func (s *script) space() {
	for !s.done() {
		switch rest := s.text[s.at:]; {
		case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			s.at++
		case strings.HasPrefix(rest, "//"):
			s.until("\n")
		case strings.HasPrefix(rest, "/*"):
			s.until("*/")
		default:
			return
		}
	}
}

func (s *script) until(end string) {
	if i := strings.Index(s.text[s.at:], end); i >= 0 {
		s.at += i + len(end)
		return
	}
	s.at = len(s.text)
}

// skip goes past one element: a text, a comment, white space or a sign.
func (s *script) skip() {
	at := s.at
	defer func() { s.skipped += s.at - at }()
	if s.space(); s.at > at || s.done() {
		return
	}
	if _, ok := s.quoted(); !ok {
		s.at = max(at+1, s.at)
	}
}

func (s *script) name() (string, bool) {
	at := s.at
	for !s.done() && isName(s.text[s.at], s.at > at) {
		s.at++
	}
	return s.text[at:s.at], s.at > at
}

func isName(c byte, inside bool) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$' || inside && c >= '0' && c <= '9'
}

// declare keeps the value of a constant.
func (s *script) declare() {
	s.space()
	name, ok := s.name()
	if s.space(); !ok || !s.take("=") {
		return
	}
	at := s.at
	if value, ok := s.value(); ok {
		s.texts[name] = value
	} else {
		s.at = at
	}
}

// maxNested is how deep literals are read.
const maxNested = 16

// value reads an expression of literals and constants as JSON.
func (s *script) value() (value string, ok bool) { return s.sum(0) }

// sum reads texts joined by +.
func (s *script) sum(deep int) (value string, ok bool) {
	value, ok = s.one(deep)
	for ok {
		if s.space(); !s.take("+") {
			break
		}
		next, more := s.one(deep)
		if a, b := (transcript.Node{Raw: []byte(value)}), (transcript.Node{Raw: []byte(next)}); more && a.Is('"') && b.Is('"') {
			value = transcript.QuoteText(a.Text() + b.Text())
			continue
		}
		return "", false
	}
	return value, ok && (s.done() || strings.IndexByte(",;)}]\n", s.text[s.at]) >= 0 || s.ended())
}

// ended reports whether a new line separates the value from what follows.
func (s *script) ended() bool { return s.at > 0 && s.text[s.at-1] == '\n' }

func (s *script) one(deep int) (value string, ok bool) {
	if s.space(); s.done() || deep > maxNested {
		return "", false
	}
	switch c := s.text[s.at]; {
	case c == '{':
		return s.object(deep)
	case c == '[':
		return s.list(deep)
	case c >= '0' && c <= '9', c == '-':
		at := s.at
		for s.at++; !s.done() && strings.IndexByte("0123456789._eE", s.text[s.at]) >= 0; s.at++ {
		}
		value = strings.ReplaceAll(s.text[at:s.at], "_", "")
		return value, transcript.Valid([]byte(value))
	}
	if s.take("String.raw") {
		return s.quotedRaw()
	}
	if text, ok := s.quoted(); ok {
		return transcript.QuoteText(text), true
	}
	name, _ := s.name()
	switch name {
	case "true", "false", "null":
		return name, true
	}
	value, ok = s.texts[name]
	return value, ok
}

// list reads a list; of texts also what join makes of it.
func (s *script) list(deep int) (value string, ok bool) {
	var all []string
	for s.at++; ; {
		if s.space(); s.take("]") {
			break
		}
		one, ok := s.sum(deep + 1)
		if !ok {
			return "", false
		}
		all = append(all, one)
		s.space()
		s.take(",")
	}
	value = "[" + strings.Join(all, ",") + "]"
	if !s.take(".join(") {
		return value, true
	}
	with, ok := s.sum(deep + 1)
	if !ok || !s.take(")") {
		return "", false
	}
	for i, one := range all {
		all[i] = transcript.Node{Raw: []byte(one)}.Text()
	}
	return transcript.QuoteText(strings.Join(all, transcript.Node{Raw: []byte(with)}.Text())), true
}

// object reads an object. A member whose value cannot be read is left out.
func (s *script) object(deep int) (value string, ok bool) {
	var all []string
	for s.at++; !s.done(); {
		if s.space(); s.take("}") {
			return "{" + strings.Join(all, ",") + "}", true
		}
		name, ok := s.quoted()
		if !ok {
			if name, ok = s.name(); !ok {
				return "", false
			}
		}
		if s.space(); !s.take(":") {
			if one, known := s.texts[name]; known { // {cmd}
				all = append(all, transcript.QuoteText(name)+":"+one)
			}
		} else if one, ok := s.sum(deep + 1); ok {
			all = append(all, transcript.QuoteText(name)+":"+one)
		} else if !s.member() {
			return "", false
		}
		s.space()
		s.take(",")
	}
	return "", false
}

// member skips the rest of a member that cannot be read, up to the comma or brace behind it.
func (s *script) member() bool {
	for open := 0; !s.done(); {
		switch c := s.text[s.at]; {
		case open == 0 && (c == ',' || c == '}'):
			return true
		case strings.IndexByte("([{", c) >= 0:
			open++
		case strings.IndexByte(")]}", c) >= 0:
			open--
		}
		s.skip()
	}
	return false
}

// quoted reads a text in any of the three kinds of quotes.
func (s *script) quoted() (text string, ok bool) {
	if s.done() || strings.IndexByte("'\"`", s.text[s.at]) < 0 {
		return "", false
	}
	quote := s.text[s.at]
	var b strings.Builder
	for s.at++; !s.done(); s.at++ {
		switch c := s.text[s.at]; {
		case c == quote:
			s.at++
			return b.String(), true
		case c == '\\' && s.at+1 < len(s.text):
			s.at++
			s.escaped(&b)
		case c == '$' && quote == '`' && strings.HasPrefix(s.text[s.at:], "${"):
			s.inserted(&b)
		default:
			b.WriteByte(c)
		}
	}
	return "", false
}

// quotedRaw reads a template in which a backslash is one.
func (s *script) quotedRaw() (value string, ok bool) {
	if s.space(); !s.take("`") {
		return "", false
	}
	at := s.at
	s.until("`")
	return transcript.QuoteText(strings.TrimSuffix(s.text[at:s.at], "`")), true
}

// inserted writes what a template inserts: a constant, or else the expression as it is.
func (s *script) inserted(b *strings.Builder) {
	end := strings.IndexByte(s.text[s.at:], '}')
	if end < 0 {
		b.WriteByte('$')
		return
	}
	whole := s.text[s.at : s.at+end+1]
	if one := (transcript.Node{Raw: []byte(s.texts[strings.TrimSpace(whole[2:end])])}); one.Is('"') {
		whole = one.Text()
	}
	b.WriteString(whole)
	s.at += end
}

var escapes = map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', 'b': '\b', 'f': '\f', 'v': '\v', '0': 0}

// escaped writes the character behind a backslash.
func (s *script) escaped(b *strings.Builder) {
	c := s.text[s.at]
	if c == 'u' || c == 'x' {
		digits := 2
		if c == 'u' {
			digits = 4
		}
		if hex := s.text[s.at+1 : min(len(s.text), s.at+1+digits)]; len(hex) == digits && !slices.ContainsFunc([]byte(hex), notHex) {
			b.WriteString(transcript.Node{Raw: []byte(`"\u` + strings.Repeat("0", 4-digits) + hex + `"`)}.Text())
			s.at += digits
			return
		}
	}
	if c == '\n' { // the text continues on the next line
		return
	}
	if plain, ok := escapes[c]; ok {
		c = plain
	}
	b.WriteByte(c)
}

func notHex(c byte) bool { return !strings.ContainsRune("0123456789abcdefABCDEF", rune(c)) }
