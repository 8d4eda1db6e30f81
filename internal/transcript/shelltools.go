package transcript

import (
	"slices"
	"strconv"
	"strings"
)

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
			for _, w := range s.operands(args, "frq") {
				s.add(shellChange{FileChange: FileChange{Op: Delete, Tree: hasOption(args, "r", "--recursive")}}, w)
			}
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
	staged, worktree := hasOption(args, "S", "--staged"), hasOption(args, "W", "--worktree")
	if staged && !worktree {
		return
	}
	var files []word
	for i := 0; i < len(args); i++ {
		switch w := args[i]; {
		case w.text == "-s" || w.text == "--source":
			i++
		case strings.HasPrefix(w.text, "--source="), strings.HasPrefix(w.text, "-s") && len(w.text) > 2:
		default:
			files = append(files, w)
		}
	}
	s.revert(files)
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
		case w.text == "-i" || w.text == "--in-place" || strings.HasPrefix(w.text, "--in-place="):
			inPlace = true
			if i+1 < len(args) && args[i+1].text == "" { // macOS syntax
				i++
			}
		case strings.HasPrefix(w.text, "-i"):
			inPlace = true
		case w.text == "-e" || w.text == "-f":
			script = true
			i++
		case strings.HasPrefix(w.text, "-e"):
			script = true
		case w.text == "-n" || w.text == "-E" || w.text == "-r" || w.text == "-nE" || w.text == "-nr":
		case strings.HasPrefix(w.text, "-") && w.text != "-":
			odd = true
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
		ch := shellChange{FileChange: FileChange{Op: Write}, more: r.op == ">>"}
		if ch.more {
			ch.Op = Edit
		}
		if r.fd == 1 {
			ch.text, ch.known = c.prints()
		}
		s.add(ch, r.target)
	}
	if name, args := c.name(); name == "tee" {
		for _, w := range plainArgs(args, "a") {
			ch := shellChange{FileChange: FileChange{Op: Write}, more: hasOption(args, "a", "--append")}
			if ch.more {
				ch.Op = Edit
			}
			ch.text, ch.known = c.document()
			s.add(ch, w)
		}
	}
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
