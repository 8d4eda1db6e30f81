package transcript

import (
	"bytes"
	"strings"
	"unicode"
)

// After returns the content of a file after change number n of a call's Action.Files, given its known content before.
// For a Rename the file is its To. It returns the zero Content if the call does not show the result, or if the change
// does not apply cleanly. Reads change nothing, see Reading.
func (c *Client) After(tool string, input []byte, n int, before Content) Content {
	a, input := c.unwrapped(tool, input)
	if n < 0 || n >= len(a.Files) {
		return Content{}
	}
	switch a.Files[n].Op {
	case Read:
		return before
	case Delete, Revert, Other:
		return Content{}
	}
	args := Arguments(input)
	if patch := patchOf(&a, args, input); patch != "" {
		if all := sections(patch); n < len(all) {
			return all[n].after(before)
		}
		return Content{}
	}
	if a.Op == Command {
		return inShellAfter(&a, n, before)
	}
	return edited(args, before, c.DropsNewline)
}

// Arguments returns a call's input, decoded if it is in a string.
func Arguments(input []byte) Node {
	n := Node{Raw: bytes.TrimSpace(input)}
	if n.Is('"') && Valid(n.Raw) {
		n.Raw = bytes.TrimSpace(unquote(nil, n.Raw))
	}
	if len(n.Raw) == 0 || !Valid(n.Raw) {
		return Node{}
	}
	return n
}

// Patch returns the patch that a call applies, from its first line to its last if present; "" if there is none.
func (c *Client) Patch(tool string, input []byte) string {
	a, input := c.unwrapped(tool, input)
	return patchOf(&a, Arguments(input), input)
}

func patchOf(a *Action, args Node, input []byte) string {
	if a.Command != "" {
		return a.Patch()
	}
	text := firstText(args, "input", "patch")
	if text == "" && quoted(bytes.TrimSpace(input)) {
		text = string(unquote(nil, bytes.TrimSpace(input)))
	}
	return patchIn(text)
}

// Patch returns the patch that a command applies, "" if there is none, or the command only mentions one.
func (a *Action) Patch() string {
	if a.Op == Command && len(a.Files) > 0 && a.Files[0].Proof != Ran {
		return ""
	}
	return patchIn(a.Command)
}

func patchIn(text string) string {
	from := strings.Index(text, PatchBegin)
	if from < 0 {
		return ""
	}
	patch, _, ended := strings.Cut(text[from:], PatchEnd)
	if ended {
		patch += PatchEnd
	}
	return patch
}

// TextEdit is a replacement of a text.
type TextEdit struct {
	Old, New string
	All      bool // all occurrences
}

// Edits returns the arguments of a call that writes or edits a file: the file's whole content, or the replacements in
// order. ok is false for other inputs.
func Edits(input []byte) (content string, steps []TextEdit, ok bool) {
	return editsOf(Arguments(input))
}

func editsOf(args Node) (content string, steps []TextEdit, ok bool) {
	for _, name := range []string{"content", "contents", "file_text"} {
		if text := args.Field(name); text.Is('"') {
			return text.Text(), nil, true
		}
	}
	take := func(step Node) bool {
		old, new, all := step.Field("old_string"), step.Field("new_string"), step.Field("replace_all")
		if step.Field("old_str").Is('"') {
			old, new = step.Field("old_str"), step.Field("new_str")
		}
		for _, names := range [][2]string{{"oldText", "newText"}, {"oldString", "newString"}} {
			if step.Field(names[0]).Is('"') {
				old, new = step.Field(names[0]), step.Field(names[1])
			}
		}
		every := all.IsTrue() || step.Field("replaceAll").IsTrue() || step.Field("change_all").IsTrue() || step.Field("allow_multiple").IsTrue() || step.Field("expected_replacements").Integer() > 1
		steps = append(steps, TextEdit{old.Text(), new.Text(), every})
		return old.Is('"') && new.Is('"')
	}
	edits := args.Field("edits")
	if !edits.Is('[') {
		edits = args.Field("changes")
	}
	if !edits.Is('[') {
		ok = take(args)
		return "", steps, ok
	}
	for step := range edits.Elements() {
		if !take(step) {
			return "", nil, false
		}
	}
	return "", steps, len(steps) > 0
}

// edited applies the arguments of a writing or editing tool.
func edited(args Node, before Content, swallow bool) Content {
	content, steps, ok := editsOf(args)
	switch {
	case !ok:
		return Content{}
	case steps == nil:
		return Whole(content)
	}
	for i, s := range steps {
		if s.Old == "" && i == 0 { // creates the file
			before = Whole(s.New)
		} else {
			before = before.replaced(s.Old, s.New, s.All, swallow)
		}
	}
	return before
}

// inShellAfter returns the content of a file after a shell command.
func inShellAfter(a *Action, n int, before Content) Content {
	all := shellChanges(a.Command)
	if n >= len(all) {
		return Content{}
	}
	c := all[n]
	switch {
	case c.Op == Rename:
		return before
	case c.Op == Touch:
		return before
	case !c.known:
		return Content{}
	case !c.more:
		return Whole(c.text)
	}
	text, ok := before.Text()
	if !ok {
		return Content{}
	}
	return Whole(text + c.text)
}

// after applies the section.
func (s section) after(before Content) Content {
	switch s.op {
	case Write:
		var b strings.Builder
		for _, l := range s.lines {
			text, ok := strings.CutPrefix(l, "+")
			if !ok {
				return Content{}
			}
			b.WriteString(text + "\n")
		}
		return Whole(b.String())
	case Edit:
		text, ok := before.Text()
		if !ok {
			return Content{}
		}
		if len(s.lines) == 0 && s.to != "" {
			return before
		}
		return s.patched(text)
	}
	return Content{}
}

// hunk is one change of an update.
type hunk struct {
	context  string // the line that precedes it, "" if not given
	old, new []string
	atEnd    bool
}

// patched applies the hunks of an update in order, each after the previous one; pure additions go to the end. Of lines that
// match loosely it writes the patch's form, unchanged ones too, as Codex does.
func (s section) patched(text string) Content {
	var lines, out, tail []string
	left := maxCompared
	if text != "" {
		lines = strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	}
	from := 0
	for _, h := range s.hunks() {
		at := from
		if h.context != "" {
			i := indexLines(lines[from:], []string{h.context}, &left)
			if i < 0 {
				return Content{}
			}
			at = from + i + 1
		}
		if len(h.old) == 0 {
			tail = append(tail, h.new...)
			continue
		}
		if h.atEnd {
			at = max(at, len(lines)-len(h.old))
		}
		i := indexLines(lines[at:], h.old, &left)
		if i < 0 {
			return Content{}
		}
		at += i
		out = append(append(out, lines[from:at]...), h.new...)
		from = at + len(h.old)
	}
	out = append(append(out, lines[from:]...), tail...)
	if n := len(out); n == 0 || out[n-1] != "" { // an empty last line is taken for the end of the last
		out = append(out, "")
	}
	return Whole(strings.Join(out, "\n"))
}

// maxCompared limits the lines compared for one patch, for repetitive files.
const maxCompared = 1 << 22

// looseness is how apply_patch compares lines: the next way only if the one before finds nothing.
var looseness = []func(line string) string{
	func(line string) string { return line },
	func(line string) string { return strings.TrimRightFunc(line, unicode.IsSpace) },
	strings.TrimSpace,
}

// indexLines returns the first position of want in lines, or -1 if there is none or more than left lines would be compared.
func indexLines(lines, want []string, left *int) int {
	for _, form := range looseness {
		for i := 0; i+len(want) <= len(lines) && *left > 0; i++ {
			n := 0
			for n < len(want) && form(lines[i+n]) == form(want[n]) {
				n++
			}
			if *left -= n + 1; n == len(want) {
				return i
			}
		}
	}
	return -1
}

func (s section) hunks() []hunk {
	var all []hunk
	var h hunk
	flush := func() {
		if len(h.old)+len(h.new) > 0 {
			all = append(all, h)
		}
		h = hunk{}
	}
	for _, l := range s.lines {
		switch {
		case strings.HasPrefix(l, "@@"):
			flush()
			h.context = strings.TrimPrefix(strings.TrimPrefix(l, "@@"), " ")
		case l == "*** End of File":
			h.atEnd = true
		case strings.HasPrefix(l, "-"):
			h.old = append(h.old, l[1:])
		case strings.HasPrefix(l, "+"):
			h.new = append(h.new, l[1:])
		default:
			l = strings.TrimPrefix(l, " ")
			h.old, h.new = append(h.old, l), append(h.new, l)
		}
	}
	flush()
	return all
}

// PatchBegin and PatchEnd enclose a patch as Codex writes it, with a header line for each file.
const (
	PatchBegin = "*** Begin Patch"
	PatchEnd   = "*** End Patch"
)

// section is the part of a patch for one file.
type section struct {
	op       Op
	path, to string   // to: new path, "" if unchanged
	lines    []string // as in the patch, with signs
}

// sections returns the parts of a patch.
func sections(patch string) (all []section) {
	for line := range strings.Lines(strings.TrimSuffix(patch, PatchEnd)) {
		line = strings.TrimRight(line, "\r\n")
		if path, ok := strings.CutPrefix(line, "*** Add File: "); ok {
			all = append(all, section{op: Write, path: path})
		} else if path, ok := strings.CutPrefix(line, "*** Update File: "); ok {
			all = append(all, section{op: Edit, path: path})
		} else if path, ok := strings.CutPrefix(line, "*** Delete File: "); ok {
			all = append(all, section{op: Delete, path: path})
		} else if n := len(all); n > 0 {
			if to, ok := strings.CutPrefix(line, "*** Move to: "); ok {
				all[n-1].to = to
			} else {
				all[n-1].lines = append(all[n-1].lines, line)
			}
		}
	}
	return all
}

// patched reads the files that a patch changes. The action's Op is theirs if all are equal, otherwise Edit.
func patched(a *Action, patch string) {
	a.Op = Edit
	for i, s := range sections(patch) {
		f := FileChange{Op: s.op, Path: s.path, To: s.to}
		if s.to != "" {
			f.Op = Rename
		}
		if a.Files = append(a.Files, f); i == 0 {
			a.Op = f.Op
		} else if a.Op != f.Op {
			a.Op = Edit
		}
	}
}

// patchInShell reads a patch that a shell command passes to apply_patch. The command is unchanged. If it changes the
// directory first, paths are relative to where it began.
func patchInShell(a *Action) bool {
	before, rest, _ := strings.Cut(a.Command, PatchBegin)
	patch, _, ended := strings.Cut(rest, PatchEnd)
	if !ended || (!strings.Contains(before, "apply_patch") && !strings.Contains(before, "applypatch")) {
		return false
	}
	patched(a, patch)
	dir := patchDir(a.Command)
	for i := range a.Files {
		f := &a.Files[i]
		f.Path = Join(dir, f.Path)
		if f.To != "" {
			f.To = Join(dir, f.To)
		}
	}
	return true
}

// patchDir returns the directory in which a command line calls apply_patch, relative to where it began; "" if
// unchanged.
func patchDir(cmd string) string {
	list, ok := parseShell(cmd)
	if !ok {
		return ""
	}
	s := &shell{made: map[string]bool{}}
	for _, c := range list {
		if name, args := c.name(); name == "cd" {
			s.cd(args)
		} else if strings.HasPrefix(name, "apply") && !s.unknownDir {
			return s.dir
		}
	}
	return ""
}
