package transcript

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"ccd/internal/lazy"
)

// Proof says when a change requested by a call is certain.
type Proof uint8

// The proofs.
const (
	Success Proof = iota // if the call succeeded
	Silence              // if it succeeded and printed no complaint, because the status is not that of this command
	Always               // it may have been made even if the call failed
	Ran                  // if the script that makes it ran to its end, whatever its commands returned
)

// shellChange is a change of a file by a shell command, with the written text.
type shellChange struct {
	FileChange
	text  string // what is written, if known
	known bool
	more  bool // it is appended
}

// maxChanges limits the files recorded for one command.
const maxChanges = 256

// shellChanges returns the files that a command certainly changes or reads: plain commands joined by && ; and newline,
// with literal file names. A file that may be changed in other ways is returned as Other.
func shellChanges(cmd string) []shellChange {
	list, ok := parseShell(cmd)
	if !ok {
		return nil
	}
	s := &shell{made: map[string]bool{}}
	for rest := list; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].join != ";" {
			n++
		}
		if s.chain(rest[:n], n == len(rest)); s.unknown {
			return nil
		}
		rest = rest[n:]
	}
	if len(s.changes) > maxChanges {
		return nil
	}
	return s.changes
}

// shell is the state of following a command line.
type shell struct {
	dir        string // current directory, relative to the start
	unknownDir bool   // the current directory is unknown
	drift      Proof  // how certain the directory is
	unknown    bool   // the rest cannot be followed
	made       map[string]bool
	changes    []shellChange

	proof Proof // of the current command; Always if it may not have run
	loud  bool  // its complaints would be printed
}

// chain follows pipelines joined by && and ||. The exit status of the command line is that of the last chain.
func (s *shell) chain(chain []simple, last bool) {
	lastOr, quiet := -1, true
	for i, c := range chain {
		if c.join == "||" {
			lastOr = i
		}
	}
	for i, end := 0, 0; i < len(chain); i = end {
		for end = i + 1; end < len(chain) && chain[end].join == "|"; end++ {
		}
		switch {
		case i <= lastOr:
			s.proof = Always
		case last:
			s.proof = Success
		case quiet && lastOr < 0:
			s.proof = Silence
		default:
			s.proof = Always
		}
		s.pipeline(chain[i:end])
		quiet = quiet && end == i+1 && complains(chain[i])
	}
}

// complains reports whether a command prints something when it fails, so that silence means success.
func complains(c simple) bool {
	for _, r := range c.redirects {
		if r.fd == 2 || r.fd == both {
			return false
		}
	}
	name, args := c.name()
	switch name {
	case "rm", "mv", "cp", "mkdir", "touch", "cd", "cat", "echo", "printf", "tee", "ls", "chmod", "head", "tail", "nl":
		return true
	case "git": // most git commands report by their status alone, and so does sed
		verb := ""
		if len(args) > 0 {
			verb = args[0].text
		}
		return (verb == "add" || verb == "mv" || verb == "rm") && !hasOption(args, "q", "--quiet")
	}
	return false
}

// pipeline follows one pipeline: its status is that of its last command.
func (s *shell) pipeline(pipe []simple) {
	proof := s.proof
	for i := range pipe {
		c := &pipe[i]
		s.proof, s.loud = proof, complains(*c)
		if s.proof == Success && i < len(pipe)-1 {
			s.proof = Silence
		}
		if s.proof == Silence && !s.loud {
			s.proof = Always
		}
		s.redirects(c)
		if len(pipe) > 1 {
			s.reads(c)
			continue // it runs in a subshell; only its output to files matters
		}
		s.command(c)
	}
}

// name returns a command's name and arguments without prefixes; "" if the name is not literal.
func (c simple) name() (name string, args []word) {
	words := c.words
	for len(words) > 1 && words[0].literal && (words[0].text == "command" || words[0].text == "sudo") {
		words = words[1:]
	}
	if len(words) > 2 && words[0].text == "timeout" && words[0].literal && !strings.HasPrefix(words[1].text, "-") {
		words = words[2:]
	}
	if len(words) == 0 || !words[0].literal {
		return "", nil
	}
	name = words[0].text
	for _, dir := range []string{"/bin/", "/usr/bin/"} {
		if base, ok := strings.CutPrefix(name, dir); ok {
			name = base
		}
	}
	return name, words[1:] // keep the path: a script of the project may have any name
}

// IsAssignment reports whether a word before a command sets a variable.
func IsAssignment(word string) bool { return assignment().MatchString(word) }

var assignment = lazy.Regexp(`^[A-Za-z_]\w*=`)

// add records a change of a file.
func (s *shell) add(c shellChange, name word) {
	if !name.literal || name.text == "" || (s.unknownDir && !IsAbs(name.text)) {
		return
	}
	c.Path, c.Proof = Join(s.dir, name.text), s.proof
	if !IsAbs(name.text) {
		c.Proof = max(c.Proof, s.drift)
	}
	if c.Proof == Always {
		c = shellChange{FileChange: FileChange{Op: Other, Path: c.Path, Tree: c.Tree, Proof: Always}}
	}
	if c.Op == Delete && !c.Tree && strings.HasSuffix(name.text, "/") {
		return // it fails for a file, and -f prints nothing
	}
	if last := Base(c.Path); last != "." && last != ".." && last != "" || c.Op == Other || c.Op == Revert {
		s.changes = append(s.changes, c)
	}
}

// maybeChanged records a file that the command may have changed.
func (s *shell) maybeChanged(name word, tree bool) {
	proof := s.proof
	s.proof = Always
	s.add(shellChange{FileChange: FileChange{Op: Other, Tree: tree}}, name)
	s.proof = proof
}

// command follows a command outside a pipeline.
func (s *shell) command(c *simple) {
	name, args := c.name()
	switch name {
	case "cd":
		s.cd(args)
	case "pushd", "popd", "source", ".":
		s.unknownDir = true
	case "exit", "return", "exec", "eval", "trap", "alias", "unalias", "shopt", "break", "continue", "builtin", "function", "enable":
		s.unknown = true
	case "rm":
		s.rm(args, "frRvd")
	case "mv":
		s.mv(args, Rename)
	case "cp":
		s.mv(args, Write)
	case "mkdir":
		for _, w := range args {
			s.made[Join(s.dir, w.text)] = true
		}
	case "touch":
		for _, w := range plainArgs(args, "") {
			s.add(shellChange{FileChange: FileChange{Op: Touch}}, w)
		}
	case "git":
		s.git(args)
	case "sed":
		if !s.sed(args) {
			s.reads(c)
		}
	default:
		s.reads(c)
		s.scripted(c, name, args)
	}
}

// cd follows a change of directory.
func (s *shell) cd(args []word) {
	if len(args) > 0 && args[0].text == "--" {
		args = args[1:]
	}
	if len(args) != 1 || !args[0].literal || strings.HasPrefix(args[0].text, "-") || args[0].text == "" || s.proof == Always {
		s.unknownDir = true
		return
	}
	s.drift = max(s.drift, s.proof)
	if IsAbs(args[0].text) {
		s.unknownDir, s.drift = false, s.proof
	}
	s.dir = Join(s.dir, args[0].text)
}

// plainArgs returns the operands if all are literal and every option is one of the given letters, or a long form of
// one; otherwise nil.
func plainArgs(args []word, letters string) []word {
	var operands []word
	for i, w := range args {
		switch {
		case !w.literal:
			return nil
		case w.text == "--":
			for _, w := range args[i+1:] {
				if !w.literal {
					return nil
				}
			}
			return append(operands, args[i+1:]...)
		case strings.HasPrefix(w.text, "--"):
			if !longOptions[w.text] {
				return nil
			}
		case strings.HasPrefix(w.text, "-") && w.text != "-":
			if strings.Trim(w.text[1:], letters) != "" {
				return nil
			}
		default:
			operands = append(operands, w)
		}
	}
	return operands
}

// longOptions do not affect plain operands, or are checked separately.
var longOptions = map[string]bool{
	"--force": true, "--recursive": true, "--verbose": true, "--quiet": true, "--worktree": true, "--staged": true, "--cached": true,
}

// hasOption reports whether one of the options is given, by letter or by name.
func hasOption(args []word, letters, long string) bool {
	for _, w := range args {
		if w.text == "--" {
			return false
		}
		if w.text == long || (strings.HasPrefix(w.text, "-") && !strings.HasPrefix(w.text, "--") && strings.ContainsAny(w.text[1:], letters)) {
			return true
		}
	}
	return false
}

// operands returns the operands like plainArgs. If it cannot, it records the named files as perhaps changed.
func (s *shell) operands(args []word, letters string) []word {
	files := plainArgs(args, letters)
	if files == nil {
		for _, w := range args {
			switch {
			case w.literal && strings.HasPrefix(w.text, "-"):
			case w.literal:
				s.maybeChanged(w, true)
			}
		}
	}
	return files
}

func (s *shell) rm(args []word, letters string) {
	tree := hasOption(args, "rR", "--recursive")
	for _, w := range s.operands(args, letters) {
		s.add(shellChange{FileChange: FileChange{Op: Delete, Tree: tree}}, w)
	}
}

// mv follows a move, or a copy of single files (Op Write).
func (s *shell) mv(args []word, op Op) {
	letters := "fvT"
	if op == Write {
		letters = "fpv"
	}
	files := s.operands(args, letters)
	if len(files) < 2 {
		return
	}
	to := files[len(files)-1]
	files = files[:len(files)-1]
	into := len(files) > 1 || strings.HasSuffix(slashed(to.text), "/") || to.text == "." || to.text == ".." || strings.HasSuffix(to.text, "/..") ||
		s.made[Join(s.dir, to.text)]
	into = into && !hasOption(args, "T", "")
	for _, f := range files {
		dest := to
		if into {
			dest.text = Join(to.text, Base(Join(s.dir, f.text)))
		}
		// The destination may be an existing directory, unless both names have the same extension.
		ext := path.Ext(Base(dest.text))
		loose := !into && (ext == "" || ext == ".d" || path.Ext(Base(f.text)) != ext) && !hasOption(args, "T", "")
		if op == Write {
			if !loose {
				s.add(shellChange{FileChange: FileChange{Op: Write}}, dest)
			}
			continue
		}
		if s.unknownDir && !IsAbs(dest.text) {
			continue
		}
		s.add(shellChange{FileChange: FileChange{Op: Rename, To: Join(s.dir, dest.text), Tree: true, Loose: loose}}, f)
	}
}

// git follows changes that git makes to the working tree.
func (s *shell) git(args []word) {
	dir, nowhere := s.dir, s.unknownDir
	defer func() { s.dir, s.unknownDir = dir, nowhere }()
	for len(args) > 1 && args[0].literal && strings.HasPrefix(args[0].text, "-") {
		switch args[0].text {
		case "-C":
			if !args[1].literal {
				return
			}
			s.dir = Join(s.dir, args[1].text)
			s.unknownDir = s.unknownDir && !IsAbs(args[1].text)
			args = args[2:]
		case "-c":
			args = args[2:]
		case "--no-pager", "-P":
			args = args[1:]
		default:
			return
		}
	}
	if len(args) == 0 || !args[0].literal {
		return
	}
	verb, args := args[0].text, args[1:]
	switch verb {
	case "mv":
		s.mv(args, Rename)
	case "rm":
		if !hasOption(args, "", "--cached") {
			s.rm(args, "frq")
		}
	case "checkout":
		s.checkout(args)
	case "restore":
		s.restore(args)
	case "switch", "pull", "merge", "rebase", "cherry-pick", "revert", "am", "apply", "clean":
		s.anyFile()
	case "reset":
		if hasOption(args, "", "--hard") || hasOption(args, "", "--keep") || hasOption(args, "", "--merge") {
			s.anyFile()
		}
	case "stash":
		if len(args) == 0 || (args[0].text != "list" && args[0].text != "show" && args[0].text != "drop") {
			s.anyFile()
		}
	}
}

// anyFile records that any file of the tree may have changed.
func (s *shell) anyFile() { s.maybeChanged(word{text: ".", literal: true}, true) }

// checkout restores the files after "--", or takes one side of a conflict in them; otherwise it may switch branches.
func (s *shell) checkout(args []word) {
	if hasOption(args, "", "--ours") || hasOption(args, "", "--theirs") {
		s.revert(slices.DeleteFunc(slices.Clone(args), func(w word) bool { return strings.HasPrefix(w.text, "--") }))
		return
	}
	for i, w := range args {
		if w.text != "--" || !w.literal {
			continue
		}
		if i > 1 || (i == 1 && strings.HasPrefix(args[0].text, "-")) || (i == 1 && !args[0].literal) {
			s.anyFile()
			return
		}
		s.revert(args[i+1:])
		return
	}
	if !hasOption(args, "bB", "--orphan") {
		s.anyFile()
	}
}

// restore restores files, unless only the index is meant.
func (s *shell) restore(args []word) {
	if !hasOption(args, "S", "--staged") || hasOption(args, "W", "--worktree") {
		s.revert(slices.DeleteFunc(slices.Clone(args), func(w word) bool { return strings.HasPrefix(w.text, "-") }))
	}
}

func (s *shell) revert(files []word) {
	for _, w := range files {
		if !w.literal {
			s.anyFile()
			return
		}
	}
	for _, w := range s.operands(files, "SWq") {
		s.add(shellChange{FileChange: FileChange{Op: Revert, Tree: true}}, w)
	}
}

// sed follows an edit in place. The new text, and whether anything matched, is unknown.
func (s *shell) sed(args []word) bool {
	inPlace, script, odd := false, false, false
	var files []word
	for i := 0; i < len(args); i++ {
		switch w := args[i]; {
		case strings.HasPrefix(w.text, "-i"), w.text == "--in-place", strings.HasPrefix(w.text, "--in-place="):
			inPlace = true
			if i+1 < len(args) && args[i+1].text == "" { // macOS syntax
				i++
			}
		case strings.HasPrefix(w.text, "-e"), w.text == "-f":
			if script = true; len(w.text) == 2 {
				i++
			}
		case strings.HasPrefix(w.text, "-") && w.text != "-":
			odd = odd || strings.Trim(w.text[1:], "nEr") != ""
		case !script:
			script = true
		default:
			files = append(files, w)
		}
	}
	switch {
	case odd:
		for _, w := range files {
			s.maybeChanged(w, false)
		}
		return true
	case !inPlace:
		return false
	}
	for _, w := range files {
		if !w.literal {
			s.anyFile()
			continue
		}
		s.add(shellChange{FileChange: FileChange{Op: Edit}}, w)
	}
	return true
}

// redirects records the files that a command's output is written to.
func (s *shell) redirects(c *simple) {
	for _, r := range c.redirects {
		if (r.op != ">" && r.op != ">>") || r.fd > 2 || strings.HasPrefix(r.target.text, "/dev/") {
			continue
		}
		var ch shellChange
		if r.fd == 1 {
			ch.text, ch.known = c.prints()
		}
		s.writes(ch, r.op == ">>", r.target)
	}
	if name, args := c.name(); name == "tee" {
		var ch shellChange
		ch.text, ch.known = c.document()
		for _, w := range plainArgs(args, "a") {
			s.writes(ch, hasOption(args, "a", "--append"), w)
		}
	}
}

// writes records that the output goes to a file, or to its end.
func (s *shell) writes(ch shellChange, more bool, name word) {
	if ch.Op, ch.more = Write, more; more {
		ch.Op = Edit
	}
	s.add(ch, name)
}

// prints returns what a command prints, if the command contains it literally.
func (c *simple) prints() (string, bool) {
	outputs := 0
	for _, r := range c.redirects {
		if r.fd == 1 || r.fd == both {
			outputs++
		}
	}
	name, args := c.name()
	switch {
	case outputs != 1:
		return "", false
	case name == "cat" && len(args) == 0:
		return c.document()
	case name == "echo":
		var parts []string
		for i, w := range args {
			if !w.literal || strings.Contains(w.text, `\`) || (i == 0 && strings.HasPrefix(w.text, "-")) {
				return "", false
			}
			parts = append(parts, w.text)
		}
		return strings.Join(parts, " ") + "\n", true
	}
	return "", false
}

// document returns the only here-document of a command.
func (c *simple) document() (text string, ok bool) {
	for _, r := range c.redirects {
		switch r.op {
		case "<<":
			if ok || !r.literal {
				return "", false
			}
			text, ok = r.body, true
		case "<", "<<<":
			return "", false
		}
	}
	return text, ok
}

// reads records the files that a command prints, in whole or in part.
func (s *shell) reads(c *simple) {
	name, args := c.name()
	var files []word
	switch name {
	case "cat":
		files = plainArgs(args, "nAbestvET")
	case "nl":
		if len(args) > 0 && args[0].text == "-ba" {
			args = args[1:]
		}
		files = plainArgs(args, "")
	case "head", "tail":
		files, _ = linesArgs(args)
	case "sed":
		if _, _, rest, ok := printArgs(args); ok {
			files = rest
		}
	}
	for _, w := range files {
		if w.literal && !strings.HasPrefix(w.text, "/dev/") && !strings.HasPrefix(w.text, "/proc/") && s.proof != Always {
			s.add(shellChange{FileChange: FileChange{Op: Read}}, w)
		}
	}
}

// linesArgs splits the arguments of head and tail; lines is 0 if there is anything but a line count.
func linesArgs(args []word) (files []word, lines int) {
	lines = 10
	for i := 0; i < len(args); i++ {
		text := args[i].text
		switch {
		case !args[i].literal:
			return nil, 0
		case text == "-n" && i+1 < len(args):
			i++
			lines, _ = strconv.Atoi(args[i].text)
		case strings.HasPrefix(text, "-n"), strings.HasPrefix(text, "-") && len(text) > 1 && text[1] >= '0' && text[1] <= '9':
			lines, _ = strconv.Atoi(strings.TrimPrefix(text[1:], "n"))
		case strings.HasPrefix(text, "-"):
			return nil, 0
		default:
			files = append(files, args[i])
		}
	}
	return files, lines
}

// printArgs parses `sed -n A,Bp FILE`.
func printArgs(args []word) (from, to int, files []word, ok bool) {
	if len(args) < 3 || args[0].text != "-n" || !args[1].literal {
		return 0, 0, nil, false
	}
	script, ok := strings.CutSuffix(args[1].text, "p")
	a, b, two := strings.Cut(script, ",")
	if !two {
		b = a
	}
	from, err := strconv.Atoi(a)
	if !ok || err != nil || from < 1 {
		return 0, 0, nil, false
	}
	if to, err = strconv.Atoi(b); err != nil && b != "$" {
		return 0, 0, nil, false
	}
	if b == "$" {
		to = 1 << 30
	}
	for _, w := range args[2:] {
		if strings.HasPrefix(w.text, "-") {
			return 0, 0, nil, false
		}
	}
	return from, to, args[2:], to >= from
}

// scripted records the files named by a command that changes files in place or runs a script.
func (s *shell) scripted(c *simple, name string, args []word) {
	inPlace, inline := false, ""
	for i, w := range args {
		switch w.text {
		case "-w", "--write", "--fix", "-i", "--in-place", "--inplace", "-pi", "fmt", "format":
			inPlace = true
		case "-c", "-e":
			if i+1 < len(args) {
				inline = args[i+1].text
			}
		}
	}
	for _, r := range c.redirects {
		if r.op == "<<" && name != "cat" && name != "tee" && name != "git" {
			inline += "\n" + r.body
		}
	}
	named := 0
	perhaps := func(text string) {
		if named < 32 && len(text) < 512 && strings.ContainsAny(text[min(1, len(text)):], "./") && !strings.HasPrefix(text, "-") {
			named++
			s.maybeChanged(word{text: text, literal: true}, false)
		}
	}
	if inPlace {
		for _, w := range args {
			perhaps(w.text)
		}
	}
	for _, text := range strings.FieldsFunc(inline, func(r rune) bool { return r < '-' || strings.ContainsRune(":;<=>?@[\\]^`{|}", r) }) {
		perhaps(text)
	}
}
