package session

import (
	"regexp"
	"slices"
	"strings"

	"ccd/internal/transcript"
)

// A look-up lists, reads, searches or tests for existence. If it fails, that is its answer and not a problem. The lists below
// follow the programs' manuals.

// lookUps are programs that only look, and commands that only prepare or print. With these beside a look-up, a line is still
// a look-up.
var lookUps = transcript.Set("ls dir tree cat head tail less more nl bat wc stat file test [ [[ which whereis type hash command grep egrep " +
	"fgrep rg ag ack fd locate readlink realpath dirname basename du df ps pgrep lsof ss netstat printenv id whoami hostname uname " +
	"date md5sum sha1sum sha256sum cksum xxd hexdump od strings jq yq sort uniq cut tr column awk comm diffstat man apropos " +
	"cd pushd popd echo printf true : pwd set export unset sleep wait exit return local read for case select")

// helpers are programs that prepare the work of others and have no goal of their own.
var helpers = transcript.Set("mkdir touch chmod chown rm rmdir cp mv ln source . kill pkill killall tee trap")

// looking are the sub-commands of git that only look.
var looking = transcript.Set("status log show diff rev-parse ls-files ls-tree ls-remote blame describe grep cat-file rev-list reflog shortlog " +
	"show-ref merge-base name-rev for-each-ref check-ignore var version whatchanged diff-tree symbolic-ref config")

// lists are the arguments with which git's branch, remote, stash and the like only list.
var lists = transcript.Set("list show status log get-url --list -l --contains -a -r -v -vv --show-current")

// changing are the prefixes of options with which a look-up program changes something.
var changing = map[string][]string{
	"sed": {"-i", "--in-place"}, "find": {"-exec", "-delete", "-ok", "-fprint"},
}

// plain is a simple command without the words before its program.
type plain struct {
	name   string // of the program, without a directory such as /usr/bin
	args   []string
	writes bool
}

// isLookUp reports whether a plain command is a look-up.
func (c *plain) isLookUp() bool {
	if c.writes {
		return false
	}
	if c.name == "" || lookUps[c.name] || c.asks("--version", "--help") || len(c.args) == 1 && c.asks("-v", "-V", "-version", "version", "help", "-h") {
		return true
	}
	if begins, ok := changing[c.name]; ok {
		return !slices.ContainsFunc(c.args, func(w string) bool {
			return slices.ContainsFunc(begins, func(b string) bool { return strings.HasPrefix(w, b) })
		})
	}
	args := c.verb()
	switch {
	case len(args) == 0:
		return c.name == "git" || c.name == "xargs"
	case c.name == "xargs":
		return (&plain{name: args[0], args: args[1:]}).isLookUp()
	case c.name == "git" && (args[0] == "branch" || args[0] == "tag" || args[0] == "remote"):
		return len(args) == 1 || lists[args[1]]
	case c.name == "git" && len(args) > 1 && (args[0] == "stash" || args[0] == "worktree" || args[0] == "submodule"):
		return lists[args[1]]
	}
	return c.name == "git" && looking[args[0]]
}

// verb returns the arguments from the sub-command of git, or the program of xargs, on; of other programs all.
func (c *plain) verb() []string {
	args := c.args
	for len(args) > 0 && strings.HasPrefix(args[0], "-") && (c.name == "git" || c.name == "xargs") {
		n := 1
		if c.name == "git" && (args[0] == "-C" || args[0] == "-c") {
			n = 2
		}
		args = args[min(n, len(args)):]
	}
	return args
}

// asks reports whether one of the words is among the arguments.
func (c *plain) asks(words ...string) bool {
	return slices.ContainsFunc(c.args, func(w string) bool { return slices.Contains(words, w) })
}

// plainOf removes what precedes a program: variables, and programs that only run another one.
func plainOf(p *transcript.Simple) plain {
	c := plain{writes: p.Writes}
	words := p.Words
	for n := 1; n > 0 && len(words) > 0; words = words[n:] {
		n = min(goesBefore(words), len(words))
	}
	if len(words) == 0 {
		return c
	}
	c.name, c.args = words[0], words[1:]
	if strings.Contains(c.name, "/bin/") || strings.Contains(c.name, "/.bin/") {
		c.name = transcript.Base(c.name)
	}
	return c
}

// wrappers are programs that run the program named after them.
var wrappers = transcript.Set("sudo bash sh env nohup exec nice command npx bunx")

// runners are programs that run the program named after them and this word.
var runners = map[string]string{
	"uv": "run", "poetry": "run", "pipenv": "run", "pdm": "run", "hatch": "run", "rye": "run", "bundle": "exec", "pnpm": "exec",
	"yarn": "exec", "npm": "exec", "python": "-m", "python3": "-m", "py": "-m",
}

// goesBefore returns how many of the words precede a program.
func goesBefore(words []string) int {
	w := words[0]
	if transcript.IsAssignment(w) { // behind env
		return 1
	}
	switch {
	case wrappers[w] && len(words) > 1 && !strings.HasPrefix(words[1], "-"):
		return 1
	case w == "timeout":
		if n := slices.IndexFunc(words, func(w string) bool { return w != "" && w[0]-'0' < 10 }); n > 0 {
			return n + 1
		}
	case len(words) > 2 && words[1] == runners[transcript.Base(w)] && !strings.HasPrefix(words[2], "-"):
		return 2
	}
	return 0
}

// goal returns a command's program with its sub-commands: "go test", "npm run build". Two commands with one goal do the same kind
// of work.
func (c *plain) goal() string {
	g := c.name
	for _, w := range c.args {
		if strings.HasPrefix(w, "-") && g == c.name { // mvn -q test
			continue
		}
		if strings.HasPrefix(w, "-") || strings.Trim(w, "abcdefghijklmnopqrstuvwxyz0123456789-_:") != "" || strings.Trim(w, "0123456789") == "" {
			break
		}
		if g += " " + w; w != "run" && w != "exec" {
			break
		}
	}
	return g
}

// checkWords are the words by which build tools name what checks the work.
var checkWords = []string{"test", "build", "lint", "check", "vet", "compile", "tsc", "spec"}

// taskRunners are programs whose tasks a project defines, so that one without operands checks the whole of it.
var taskRunners = transcript.Set("make just task mise tox nox rake")

// mostBare is how many words a task without operands has: mise run test.
const mostBare = 3

// proves has, by the word of a check that passed, the words of those that it includes: a test is built first.
var proves = map[string][]string{
	"test": {"test", "build", "compile", "tsc"}, "spec": {"spec", "build", "compile", "tsc"}, "check": {"check", "test", "spec", "build", "compile", "tsc", "vet"},
}

// Covers reports whether a later command did what an earlier one did, or more: the same line, or a command in it that does the same kind of
// work with fewer operands or all of them, or is a task of the whole project that includes the earlier check by its name.
func (c *Call) Covers(earlier *Call) bool {
	was := strings.Fields(transcript.NormalizeRun("", earlier.Command).Command)
	if now := strings.Fields(transcript.NormalizeRun("", c.Command).Command); len(now) > 0 && slices.Equal(now, was) {
		return true
	}
	parts, _ := transcript.SplitCommand(c.Command)
	return slices.ContainsFunc(parts, func(one transcript.Simple) bool {
		p := plainOf(&one)
		return p.name != "" && p.covers(earlier.Goal, was)
	})
}

// covers reports whether a command does what one with a goal and words does, or more.
func (c *plain) covers(goal string, words []string) bool {
	if c.goal() == goal {
		part := !slices.ContainsFunc(c.args, func(w string) bool { return !slices.Contains(words, w) })
		return slices.ContainsFunc(c.args, func(w string) bool { return strings.HasSuffix(w, "...") }) || part && c.name != "go" // go without operands is one package
	}
	if !taskRunners[c.name] || len(c.args) >= mostBare || strings.ContainsAny(strings.Join(c.args, ""), "./") {
		return false
	}
	return slices.ContainsFunc(checkWords, func(w string) bool {
		included := proves[w]
		if included == nil {
			included = []string{w}
		}
		return strings.Contains(c.goal(), w) && slices.ContainsFunc(included, func(w string) bool { return strings.Contains(goal, w) })
	})
}

// Checks reports whether a command builds, tests or checks something, by its own words. A script that checks some thing checks no work.
func (c *Call) Checks() bool {
	if program, _, _ := strings.Cut(c.Goal, " "); strings.Contains(program, "/") && strings.HasPrefix(transcript.Base(program), "check-") {
		return false
	}
	return slices.ContainsFunc(checkWords, func(w string) bool { return strings.Contains(c.Goal, w) }) && !strings.HasPrefix(c.Goal, "git ")
}

// Commit is a commit that git printed after a call of the session made it.
type Commit struct {
	Event   int32
	Branch  string // as git printed it; "" for a detached HEAD
	Hash    string // abbreviated, as git printed it
	Subject string
	Pushed  int32 // the event in which git printed a push after it, -1 if none did
	Gone    bool  // perhaps replaced by another one, before a push
}

// CommitLine matches what `git commit` prints, [branch hash] subject: its groups are these three.
var CommitLine = regexp.MustCompile(`(?m)^\[(detached HEAD|[^\s\]]+)(?: \(root-commit\))? ([0-9a-f]{7,40})\] (.*)$`)

// pushedLine is what `git push` prints when the remote took something or had all of it.
var pushedLine = regexp.MustCompile(`(?m)^(?:To \S+|Everything up-to-date$)`)

// committed returns the commits that git printed in the newest result of a call.
func (t *Tracker) committed(p *pending) (all []Commit) {
	out := p.outcome.Text
	if p.action.Op != transcript.Command || p.outcome.Rejected || !strings.HasPrefix(out, "[") && !strings.Contains(out, "\n[") {
		return nil
	}
	found := CommitLine.FindAllStringSubmatch(out, -1)
	if len(found) == 0 || !t.commits(callOf(&p.action)) {
		return nil
	}
	for _, m := range found {
		one := Commit{Branch: clip(m[1], 200), Hash: clip(m[2], 40), Subject: clip(m[3], 300), Pushed: -1}
		if one.Branch == "detached HEAD" {
			one.Branch = ""
		}
		all = append(all, one)
	}
	return all
}

// commit takes the commits and pushes that git printed.
func (s *Session) commit(p *pending, out string) {
	c, pushes := p.call, strings.Contains(p.call.Command, "push")
	s.rewritten(c)
	if len(p.commits) == 0 && !(pushes && s.commits(c)) {
		return
	}
	at := c.Index
	if at < 0 {
		at = int32(len(s.Events) - 1)
	}
	if at < 0 { // all of the file is a sub-agent's
		return
	}
	for _, one := range p.commits {
		one.Event = at
		s.Commits = append(s.Commits, one)
	}
	if !pushes || !pushedLine.MatchString(out) || strings.Contains(out, "[rejected]") || strings.Contains(out, "error: failed to push") {
		return
	}
	for i := range s.Commits {
		if s.Commits[i].Pushed < 0 && !s.Commits[i].Gone {
			s.Commits[i].Pushed = at
		}
	}
}

// rewritten notes that a call may have replaced the commits that were not pushed.
func (s *Session) rewritten(c *Call) {
	if !slices.ContainsFunc(Git(c.Command), rewrites) {
		return
	}
	for i := range s.Commits {
		s.Commits[i].Gone = s.Commits[i].Gone || s.Commits[i].Pushed < 0
	}
}

// rewrites reports whether a git command replaces commits by others.
func rewrites(args []string) bool {
	moved := slices.DeleteFunc(slices.Clone(args[1:]), func(w string) bool { return strings.HasPrefix(w, "-") })
	return args[0] == "rebase" || args[0] == "reset" && len(moved) > 0 && moved[0] != "HEAD" || (args[0] == "commit" || args[0] == "pull") && slices.ContainsFunc(args, func(w string) bool {
		return w == "--amend" || strings.HasPrefix(w, "--rebase")
	})
}

// commits reports whether a command may commit or push in the session's repository: git does, or a program that is no look-up.
func (t *Tracker) commits(c *Call) bool {
	if dir := transcript.NormalizeRun(c.Dir, c.Command).Dir; t.root != "" && transcript.IsAbs(dir) && !transcript.Inside(dir, t.root) && !transcript.Inside(t.root, dir) {
		return false
	}
	all := Git(c.Command)
	if len(all) == 0 {
		return !c.LookUp
	}
	return slices.ContainsFunc(all, func(args []string) bool {
		switch args[0] {
		case "commit", "push", "merge", "revert", "cherry-pick", "am", "pull", "rebase":
			return true
		}
		return false
	})
}

// Git returns the git commands of a command line in order: each with its sub-command first. Options before the sub-command are
// left out.
func Git(line string) (all [][]string) {
	parts, ok := transcript.SplitCommand(line)
	if !ok {
		return nil
	}
	for i := range parts {
		p := plainOf(&parts[i])
		if args := p.verb(); p.name == "git" && len(args) > 0 {
			all = append(all, args)
		}
	}
	return all
}
