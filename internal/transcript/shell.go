package transcript

import (
	"path"
	"strings"
)

// Proof tells when a change that a call asks for has been made.
type Proof uint8

// The proofs.
const (
	Success Proof = iota // the call succeeded
	Silence              // it succeeded, and nothing in its output complains: its status is not that of this change
	Always               // it may have been made whatever became of the call
)

// shellChange is a change of a file by a shell command, with what it puts in.
type shellChange struct {
	FileChange
	text  string // what is written, where known
	known bool
	more  bool // it is appended
}

// maxChanges bounds the files that one command is known to change or to read.
const maxChanges = 256

// shellChanges tells which files a command changes or reads, where that is certain: of plain commands joined by
// && ; and newline, with literal file names. What may have been changed in other ways is told as Other.
func shellChanges(cmd string) []shellChange {
	list, ok := parseShell(cmd)
	if !ok {
		return nil
	}
	s := &shell{made: map[string]bool{}}
	for chain := range chains(list) {
		s.chain(chain, len(chain) > 0 && &chain[len(chain)-1] == &list[len(list)-1])
		if s.lost {
			return nil
		}
	}
	if len(s.changes) > maxChanges {
		return nil
	}
	return s.changes
}

// chains divides a list at its semicolons and newlines.
func chains(list []element) func(func([]element) bool) {
	return func(yield func([]element) bool) {
		from := 0
		for i := 1; i <= len(list); i++ {
			if i == len(list) || list[i].join == ";" {
				if from < i && !yield(list[from:i]) {
					return
				}
				from = i
			}
		}
	}
}

// shell is how far a command line has been followed.
type shell struct {
	dir     string // where it is, relative to where it began
	nowhere bool   // where it is is not known
	drift   Proof  // of where it is
	lost    bool   // what follows cannot be told
	made    map[string]bool
	changes []shellChange

	proof Proof // of the command being followed; Always where it may not have run
	loud  bool  // what it complains of would be seen
}

// chain follows pipelines that are joined by && and ||. The exit status of the whole is that of the last chain.
func (s *shell) chain(chain []element, last bool) {
	lastOr, quiet := -1, true
	for i, e := range chain {
		if e.join == "||" {
			lastOr = i
		}
	}
	for i, e := range chain {
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
		s.pipeline(e.pipe)
		quiet = quiet && len(e.pipe) == 1 && complains(e.pipe[0])
	}
}

// complains reports whether a command that fails says so, so that one that says nothing has done its work.
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
	case "git": // most of its verbs answer by their status alone, and so does sed
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
			continue // what it does to the shell itself ends with the pipe; of files, only what it prints is followed
		}
		s.command(c)
	}
}

// name is a command's name and its arguments, without what only goes before it; "" where it is not literal.
func (c simple) name() (name string, args []word) {
	words := c.words
	for len(words) > 0 && IsAssignment(words[0].text) {
		words = words[1:]
	}
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
	return name, words[1:] // a script of the project's own may have any name: it keeps its path
}

// IsAssignment reports whether a word before a command sets a variable for it.
func IsAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	if !ok || name == "" || (name[0] >= '0' && name[0] <= '9') {
		return false
	}
	return strings.IndexFunc(name, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) < 0
}

// add takes a change of a file, by the name that the command gives it.
func (s *shell) add(c shellChange, name word) {
	if !name.literal || name.text == "" || (s.nowhere && !IsAbs(name.text)) {
		return
	}
	c.Path, c.Proof = joinPath(s.dir, name.text), s.proof
	if !IsAbs(name.text) {
		c.Proof = max(c.Proof, s.drift)
	}
	if c.Proof == Always {
		c = shellChange{FileChange: FileChange{Op: Other, Path: c.Path, Tree: c.Tree, Proof: Always}}
	}
	if c.Op == Delete && !c.Tree && strings.HasSuffix(name.text, "/") {
		return // of a file it fails, and -f says nothing
	}
	if last := Base(c.Path); last != "." && last != ".." && last != "" || c.Op == Other || c.Op == Revert {
		s.changes = append(s.changes, c)
	}
}

// perhaps takes a file that the command may have changed.
func (s *shell) perhaps(name word, tree bool) {
	proof := s.proof
	s.proof = Always
	s.add(shellChange{FileChange: FileChange{Op: Other, Tree: tree}}, name)
	s.proof = proof
}

// command follows a command that stands alone.
func (s *shell) command(c *simple) {
	name, args := c.name()
	switch name {
	case "cd":
		s.cd(args)
	case "pushd", "popd", "source", ".":
		s.nowhere = true
	case "exit", "return", "exec", "eval", "trap", "alias", "unalias", "shopt", "break", "continue", "builtin", "function", "enable":
		s.lost = true
	case "rm":
		s.rm(args)
	case "mv":
		s.mv(args, Rename)
	case "cp":
		s.mv(args, Write)
	case "mkdir":
		for _, w := range args {
			s.made[joinPath(s.dir, w.text)] = true
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
		s.nowhere = true
		return
	}
	s.drift = max(s.drift, s.proof)
	if IsAbs(args[0].text) {
		s.nowhere, s.drift = false, s.proof
	}
	s.dir = joinPath(s.dir, args[0].text)
}

// plainArgs gives the operands where all of them are literal and every option is one of the letters allowed, or a long
// option among them that stands for one; nil otherwise.
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

// longOptions change nothing of what plain operands mean, or are asked for apart.
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

// operands gives the operands as plainArgs does. Where it does not, what the command names may have been changed.
func (s *shell) operands(args []word, letters string) []word {
	files := plainArgs(args, letters)
	if files == nil {
		for _, w := range args {
			switch {
			case w.literal && strings.HasPrefix(w.text, "-"):
			case w.literal:
				s.perhaps(w, true)
			}
		}
	}
	return files
}

func (s *shell) rm(args []word) {
	tree := hasOption(args, "rR", "--recursive")
	for _, w := range s.operands(args, "frRvd") {
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
		s.made[joinPath(s.dir, to.text)]
	into = into && !hasOption(args, "T", "")
	for _, f := range files {
		dest := to
		if into {
			dest.text = joinPath(to.text, Base(joinPath(s.dir, f.text)))
		}
		// A destination may be a directory that is there: only an extension that both have speaks against it.
		ext := path.Ext(Base(dest.text))
		loose := !into && (ext == "" || ext == ".d" || path.Ext(Base(f.text)) != ext) && !hasOption(args, "T", "")
		if op == Write {
			if !loose {
				s.add(shellChange{FileChange: FileChange{Op: Write}}, dest)
			}
			continue
		}
		if s.nowhere && !IsAbs(dest.text) {
			continue
		}
		s.add(shellChange{FileChange: FileChange{Op: Rename, To: joinPath(s.dir, dest.text), Tree: true, Loose: loose}}, f)
	}
}
