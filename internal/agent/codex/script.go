package codex

import (
	"cmp"
	"slices"
	"strings"

	"ccd/internal/lazy"
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

// argument returns a text that is an argument of a call, or the only one.
func argument(c transcript.Called, name string) string {
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
		return argument(c, "cmd") != ""
	case "apply_patch":
		return strings.Contains(argument(c, "input"), transcript.PatchBegin)
	}
	return true
}

// readScript returns the calls of tools in a script, in the order in which they are written. opaque reports that there are
// others, whose tool or arguments only a run of the script would show.
func readScript(text string) (calls []transcript.Called, opaque bool) {
	s := &script{tokens: tokens(text), texts: map[string]string{}}
	for s.peek() != "" && !s.tired() {
		name := s.next()
		if name == "const" || name == "let" || name == "var" {
			s.declare()
			continue
		}
		tool, ok := s.tool(name)
		if !ok {
			continue
		}
		at := s.at
		c := transcript.Called{Tool: tool, Args: []byte("{}")}
		if value, ok := s.value(0); ok {
			c.Args = []byte(value)
		} else {
			s.at = at // the arguments may call tools themselves
		}
		if whole(c) && tool != "" {
			calls = append(calls, c)
		} else {
			opaque = true
		}
	}
	return calls, opaque || s.tired()
}

// tool returns the tool that a name and what follows it call, "" if only a run of the script would show that. ok is false if they
// call none.
func (s *script) tool(name string) (tool string, ok bool) {
	switch {
	case name == "tools" && s.take("."):
		name = s.next()
	case name == "tools" && s.take("["):
		value, ok := s.value(0)
		if name = textIn(value); !ok {
			return "", true
		}
		s.take("]")
	case name == "exec_command" || name == "apply_patch": // taken out of tools before
	default:
		return "", false
	}
	return name, s.take("(")
}

// script reads JavaScript as far as it consists of literals.
type script struct {
	tokens  []token
	at      int
	texts   map[string]string // JSON of the constants
	skipped int               // tokens, also those that were skipped before
}

// token is a name, a number, a text with its quotes, or a sign.
type token struct {
	text string
	line bool // it begins a line
}

// lexer matches a text, a comment, the end of a line, a name, a number, or any other sign. What stands
// in a text's braces is short: the end of very many is not looked for again and again.
var lexer = lazy.Regexp(`(?s)"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|` + "String\\.raw`[^`]*`|`(?:\\$\\{[^}]{0,200}\\}|[^`\\\\]|\\\\.)*`" +
	`|//[^\n]*|/\*.*?(?:\*/|$)|\n|[A-Za-z_$][\w$]*|\d[\w$.]*|\S`)

// tokens returns the tokens of a script up to a text that does not end. It looks for no token behind that: each quote in there would be
// read to the end of the script.
func tokens(code string) (all []token) {
	line := false
	for at := lexer().FindStringIndex(code); at != nil; at = lexer().FindStringIndex(code) {
		t := code[at[0]:at[1]]
		code = code[at[1]:]
		switch {
		case t == "\n", strings.HasPrefix(t, "//"), strings.HasPrefix(t, "/*"):
			line = true
		case len(t) == 1 && isText(t):
			return all
		default:
			all, line = append(all, token{t, line}), false
		}
	}
	return all
}

// tired reports whether more was skipped than a script that a model writes can need: calls nested in calls are read again.
func (s *script) tired() bool { return s.skipped > 8*len(s.tokens) }

// peek returns the next token, "" at the end.
func (s *script) peek() string {
	if s.at == len(s.tokens) {
		return ""
	}
	return s.tokens[s.at].text
}

func (s *script) next() string {
	t := s.peek()
	s.at += min(1, len(t))
	return t
}

// take goes past these tokens if they are the next ones.
func (s *script) take(signs ...string) bool {
	at := s.at
	for _, one := range signs {
		if s.next() != one {
			s.at = at
			return false
		}
	}
	return true
}

// declare keeps the value of a constant.
func (s *script) declare() {
	name := s.next()
	if !s.take("=") {
		return
	}
	at := s.at
	if value, ok := s.value(0); ok {
		s.texts[name] = value
	} else {
		s.at = at
	}
}

// maxNested is how deep literals are read.
const maxNested = 16

// value reads an expression of literals and constants as JSON: one, or texts joined by +.
func (s *script) value(deep int) (value string, ok bool) {
	for value, ok = s.one(deep); ok && s.take("+"); {
		var next string
		next, ok = s.one(deep)
		ok = ok && strings.HasPrefix(value, `"`) && strings.HasPrefix(next, `"`)
		value = transcript.QuoteText(textIn(value) + textIn(next))
	}
	return value, ok && (s.peek() == "" || strings.Contains(",;)}]", s.peek()) || s.tokens[s.at].line && isName(s.peek()))
}

// textIn returns the text of a JSON string.
func textIn(value string) string { return transcript.Node{Raw: []byte(value)}.Text() }

func isName(t string) bool {
	return t[0] >= 'a' && t[0] <= 'z' || t[0] >= 'A' && t[0] <= 'Z' || t[0] == '_' || t[0] == '$'
}

func isText(t string) bool { return t != "" && strings.IndexByte("'\"`", t[0]) >= 0 }

func (s *script) one(deep int) (value string, ok bool) {
	if deep > maxNested {
		return "", false
	}
	switch t := s.next(); {
	case t == "{":
		return s.object(deep)
	case t == "[":
		return s.list(deep)
	case t == "-":
		value = t + s.next()
		return value, transcript.Valid([]byte(value))
	case t == "true", t == "false", t == "null":
		return t, true
	case t != "" && t[0] >= '0' && t[0] <= '9':
		value = strings.ReplaceAll(t, "_", "")
		return value, transcript.Valid([]byte(value))
	case isText(t):
		return transcript.QuoteText(s.textOf(t)), true
	case strings.HasPrefix(t, "String.raw"): // a template in which a backslash is one
		return transcript.QuoteText(t[strings.IndexByte(t, '`')+1 : len(t)-1]), true
	default:
		value, ok = s.texts[t]
		return value, ok
	}
}

// list reads a list; of texts also what join makes of it.
func (s *script) list(deep int) (value string, ok bool) {
	var all, texts []string
	for !s.take("]") {
		one, ok := s.value(deep + 1)
		if !ok {
			return "", false
		}
		all, texts = append(all, one), append(texts, textIn(one))
		s.take(",")
	}
	if !s.take(".", "join", "(") {
		return "[" + strings.Join(all, ",") + "]", true
	}
	with, ok := s.value(deep + 1)
	return transcript.QuoteText(strings.Join(texts, textIn(with))), ok && s.take(")")
}

// object reads an object. A member whose value cannot be read is left out.
func (s *script) object(deep int) (value string, ok bool) {
	var all []string
	for !s.take("}") {
		name := s.next()
		if isText(name) {
			name = s.textOf(name)
		} else if name == "" || !isName(name) {
			return "", false
		}
		one, known := s.texts[name] // {cmd}
		if s.take(":") {
			if one, known = s.value(deep + 1); !known && !s.member() {
				return "", false
			}
		}
		if known {
			all = append(all, transcript.QuoteText(name)+":"+one)
		}
		s.take(",")
	}
	return "{" + strings.Join(all, ",") + "}", true
}

// member skips the rest of a member that cannot be read, up to the comma or brace behind it.
func (s *script) member() bool {
	for open := 0; s.peek() != "" && !s.tired(); s.skipped++ {
		switch t := s.peek(); {
		case open == 0 && (t == "," || t == "}"):
			return true
		case strings.Contains("([{", t):
			open++
		case strings.Contains(")]}", t):
			open--
		}
		s.at++
	}
	return false
}

// escape matches an escape in a text, or what a template inserts.
var escape = lazy.Regexp(`(?s)(?:\\u[0-9A-Fa-f]{4})+|\\x[0-9A-Fa-f]{2}|\\.|\$\{[^}]*\}`)

// escapes are the escapes of one letter that stand for something else. The text continues behind the end of a line.
var escapes = map[string]string{"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\x00", "\n": ""}

// textOf returns what a text in any of the three kinds of quotes stands for. A template's constants are inserted, other expressions
// stay as they are.
func (s *script) textOf(quoted string) string {
	return escape().ReplaceAllStringFunc(quoted[1:len(quoted)-1], func(e string) string {
		switch {
		case e[0] == '$':
			if one := s.texts[strings.TrimSpace(e[2:len(e)-1])]; quoted[0] == '`' && strings.HasPrefix(one, `"`) {
				return textIn(one)
			}
			return e
		case e[1] == 'u' && len(e) > 2:
			return textIn(`"` + e + `"`)
		case e[1] == 'x' && len(e) > 2:
			return textIn(`"\u00` + e[2:] + `"`)
		}
		if plain, ok := escapes[e[1:]]; ok {
			return plain
		}
		return e[1:]
	})
}

// wrappers is what the decoder knows of the calls of wrappers that have not ended, oldest first.
type wrappers struct{ open []*wrapper }

type wrapper struct {
	call     string   // whose result is next: its own, or one that waits for it
	cell     string   // by which a later call waits for it
	commands []string // that its script names and no event has reported
	opaque   bool
	told     transcript.Told
	seen     bool // an event reported something
}

// maxWrappers is how many are followed.
const maxWrappers = 64

// called takes a call of a wrapper, or one that waits for its end.
func called(d *transcript.Decoder, item *transcript.Item, input transcript.Node) {
	switch {
	case item.Tool == waitTool:
		cell := transcript.Arguments(input.Raw).Field("cell_id")
		for _, one := range transcript.StateOf[wrappers](d).open {
			if cell.Has() && one.cell == strings.Trim(string(cell.Raw), `"`) {
				one.call = item.Call
			}
		}
	case item.Tool == scriptTool:
		calls, opaque := readScript(scriptOf(input))
		one := &wrapper{call: item.Call, opaque: opaque}
		for _, c := range calls {
			if command := argument(c, "cmd"); command != "" && c.Tool != "apply_patch" {
				one.commands = append(one.commands, command)
			}
		}
		w := transcript.StateOf[wrappers](d)
		w.open = append(w.open[max(0, len(w.open)+1-maxWrappers):], one)
	}
}

// ended completes the result of a wrapper by what events reported.
func ended(d *transcript.Decoder, item *transcript.Item, output transcript.Node) {
	w, ok := d.State.(*wrappers)
	if !ok {
		return
	}
	i := slices.IndexFunc(w.open, func(one *wrapper) bool { return one.call == item.Call })
	if i < 0 || item.Call == "" {
		return
	}
	one := w.open[i]
	if out := d.Client.Explain(item.Tool, transcript.Other, output.Raw, false); out.Running {
		one.cell = out.Job
		return
	}
	w.open = slices.Delete(w.open, i, i+1)
	if one.seen {
		told := one.told
		item.Told, item.Failed = &told, item.Failed || told.Exit != 0 || told.Undone
	}
	item.Opaque = one.opaque && !one.seen
}

// reports takes an event that reports the end of a command or of a patch. If the script that ran it cannot be read, the event
// gives the call and its result.
func reports(d *transcript.Decoder, r *transcript.Record, payload transcript.Node) {
	w, ok := d.State.(*wrappers)
	if !ok || len(w.open) == 0 {
		return
	}
	what := payload
	kind := payload.Field("type").Text()
	if kind == "item_completed" {
		what = payload.Field("item")
		kind = what.Field("type").Text()
	}
	switch kind {
	case "CommandExecution", "exec_command_end":
		w.commandEnded(r, what)
	case "McpToolCall":
		if what.Field("status").Text() == "failed" {
			tool := what.Field("server").Text() + "__" + what.Field("tool").Text()
			inner(r, what, tool, &transcript.Told{Undone: true}, what.Field("error"))
		}
	case "FileChange", "patch_apply_end":
		w.patchEnded(r, what)
	}
}

// commandEnded takes the end of a command, which says nothing without its exit status. Of several commands the first failure
// counts.
func (w *wrappers) commandEnded(r *transcript.Record, what transcript.Node) {
	if !what.Field("exit_code").Has() {
		return
	}
	exit := int(what.Field("exit_code").Integer())
	command := transcript.CommandLine(what.Field("command"))
	one, known := w.find(command)
	one.seen = true
	one.told.Ended = true
	one.told.Piped = one.told.Piped || strings.Contains(command, "|")
	one.told.Exit = cmp.Or(one.told.Exit, exit)
	if one.opaque && !known {
		inner(r, what, "exec_command", &transcript.Told{Ended: true, Exit: exit}, what.Field("aggregated_output"))
	}
}

// patchEnded takes the end of a patch. It names no command to find its wrapper by, so it counts for the newest one.
func (w *wrappers) patchEnded(r *transcript.Record, what transcript.Node) {
	one := w.open[len(w.open)-1]
	status := what.Field("status").Text()
	undone := status != "" && status != "completed" || what.Field("success").Is('f')
	one.seen, one.told.Undone = true, one.told.Undone || undone
	if one.opaque {
		inner(r, what, "apply_patch", &transcript.Told{Undone: undone}, what.Field("stdout"))
	}
}

// find returns the wrapper that runs a command, and whether its script names it.
func (w *wrappers) find(command string) (one *wrapper, known bool) {
	for _, one := range w.open {
		if i := slices.Index(one.commands, command); i >= 0 {
			one.commands = slices.Delete(one.commands, i, i+1)
			return one, true
		}
	}
	for _, one := range w.open {
		if one.opaque {
			return one, false
		}
	}
	return w.open[len(w.open)-1], false
}

// inner adds the call and the result that an event reports.
func inner(r *transcript.Record, what transcript.Node, tool string, told *transcript.Told, output transcript.Node) {
	r.UI = false
	id := "event " + transcript.QuoteText(what.Field("id").Text()+what.Field("call_id").Text()) + r.Time.String()
	r.Add(transcript.Item{Kind: transcript.Call, Tool: tool, Call: id, Inner: true}, what)
	failed := told.Exit != 0 || told.Undone
	if !output.Has() {
		output = what
	}
	r.Add(transcript.Item{Kind: transcript.Result, Tool: tool, Call: id, Inner: true, Failed: failed, Told: told}, output)
}
