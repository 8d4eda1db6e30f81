package session

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"ccd/internal/transcript"
)

// Commit is a commit that a call of the session made.
type Commit struct {
	Event   int32
	Branch  string // "" if git did not print it
	Hash    string // as git printed it; "" if it did not
	Subject string
	Pushed  int32 // the event that pushed it, -1 if none was seen
	Rewrote int32 // the event of a rebase or amend before it was pushed, which gave it another hash; 0: none
}

// gitState is what git's own lines say.
type gitState struct {
	branchRec int32 // record with the newest branch field, -1
	branch    string
	at        int32 // record of branch
	stuck     int32 // event of a merge or rebase that stopped at a conflict, -1... 0: none
	verb      string
	stashed   []*File  // that a stash took
	added     []string // paths of `git add` since the last commit; "." for all
	listed    Listing  // the last one without a commit since
	rejected  int32    // event of a push that the remote rejected and none succeeded since; 0: none
	moved     int32    // event that moved the branch after the last commit otherwise: a merge, a pull, a rebase; 0: none
	how       string   // its verb
	taken     int32    // event of the last command that brought files from elsewhere, -1
	head      string   // the commit that the branch was at, by the newest range that git printed; "" if unknown
}

// Moved returns the call that moved the branch after the last commit, with its verb, nil if none did, and the newest commit of
// the branch that a push or a merge printed, "" if none.
func (s *Session) Moved() (c *Call, verb, head string) {
	if s.git.moved > 0 {
		c = s.Events[s.git.moved].Call
	}
	return c, s.git.how, s.git.head
}

var (
	committed = regexp.MustCompile(`(?m)^\[(detached HEAD|[^\s\]]+)(?: \(root-commit\))? ([0-9a-f]{7,40})\] (.*)$`)
	switched  = regexp.MustCompile(`(?m)^(?:Switched to (?:a new )?branch|Already on) '([^']+)'`)
	onBranch  = regexp.MustCompile(`(?m)^On branch (\S+)$`)
	shortLine = regexp.MustCompile(`(?m)^## ([^\s.]+(?:\.[^\s.]+)*)(?:\.\.\.|$)`)
	clean     = regexp.MustCompile(`(?m)^nothing to commit, working tree clean$`)
	listed    = regexp.MustCompile(`(?m)^(?:[ MADRCU?]?[MADRCU?] {1,2}|\t(?:[a-z ]+: +)?)(\S.*)$`)
	pushed    = regexp.MustCompile(`(?m)^(?:To \S+|Everything up-to-date$)`)
	conflict  = regexp.MustCompile(`(?m)^CONFLICT \(`)
	ranged    = regexp.MustCompile(`(?m)^\s*(?:Updating |\+ )?[0-9a-f]{7,40}\.{2,3}([0-9a-f]{7,40})(?: |$)`)
	stayed    = regexp.MustCompile(`(?m)^(?:Already up[ -]to[ -]date|Current branch .* is up to date)`)
)

// Branch returns the branch by the newest record that has one, else by git's output; "" if unknown.
func (s *Session) Branch() string {
	if s.git.branch != "" && s.git.at > s.git.branchRec {
		return s.git.branch
	}
	return s.status.Branch
}

// Stuck returns the call that left a merge or rebase with conflicts, and git's name of what is under way; nil if none.
func (s *Session) Stuck() (*Call, string) {
	if s.git.verb == "" {
		return nil, ""
	}
	return s.Events[s.git.stuck].Call, s.git.verb
}

// Rejected returns the last push if the remote rejected it, nil otherwise.
func (s *Session) Rejected() *Call {
	if s.git.rejected == 0 {
		return nil
	}
	return s.Events[s.git.rejected].Call
}

// Taken returns the event of the last git command that brought other files into the work tree, -1 if none.
func (s *Session) Taken() int32 { return s.git.taken }

// Listing is what a `git status` listed.
type Listing struct {
	Call  *Call // nil: none
	Files []string
}

// Listed returns the last list of changed files that git printed, if no commit was made since, nor other files brought in.
func (s *Session) Listed() Listing {
	if c := s.git.listed.Call; c != nil && c.Index < s.git.taken {
		return Listing{}
	}
	return s.git.listed
}

// Commits reports whether a command makes a commit if it succeeds.
func Commits(c *Call) bool {
	return c.Op == transcript.Command && slices.ContainsFunc(gitVerbs(c.Command), func(v gitVerb) bool { return v.name == "commit" })
}

// readGit takes what a command and its output say about the repository.
func (s *Session) readGit(c *Call, line, out string) {
	if !strings.Contains(line, "git") && !strings.HasPrefix(out, "[") || c.State == Refused {
		return
	}
	s.followVerbs(c, line, out)
	for _, m := range switched.FindAllStringSubmatch(out, -1) {
		s.git.branch, s.git.at = clip(m[1], 200), c.Result.Rec
	}
	if strings.Contains(line, "git") && strings.Contains(line, "status") {
		for _, form := range []*regexp.Regexp{onBranch, shortLine} {
			if m := form.FindStringSubmatch(out); m != nil && !elsewhere(line) {
				s.git.branch, s.git.at = clip(m[1], 200), c.Result.Rec
			}
		}
		if verbs := gitVerbs(line); len(verbs) == 1 && verbs[0].name == "status" && c.State == Done && !elsewhere(line) {
			s.git.listed = Listing{Call: c}
			for _, m := range listed.FindAllStringSubmatch(out, -1) {
				s.git.listed.Files = append(s.git.listed.Files, clip(m[1], maxPath))
			}
		}
		if c.clean(line, out) && !elsewhere(line) {
			s.close()
		}
	}
}

// elsewhere reports whether a git command works in another directory.
func elsewhere(line string) bool {
	return strings.Contains(line, "git -C ") || strings.Contains(line, "cd ")
}

// outside reports whether a command line goes to a directory outside the session's, so that its git is another repository's.
func (s *Session) outside(c *Call, line string) bool {
	if s.root == "" {
		return false
	}
	dir := transcript.NormalizeRun(c.Dir, line).Dir
	if dir == "" || !transcript.IsAbs(dir) {
		return false
	}
	for _, own := range []string{s.root, transcript.Join("", s.status.Cwd)} {
		_, below := transcript.Below(dir, own)
		_, above := transcript.Below(own, dir)
		if below || above || transcript.SamePath(dir, own) {
			return false
		}
	}
	return true
}

// followVerbs follows add, commit, push and what ends a conflict, in the order of the line.
func (s *Session) followVerbs(c *Call, line, out string) {
	if s.outside(c, line) {
		return
	}
	for _, verb := range gitVerbs(line) {
		if c.State == Done && verb.brings() && !stayed.MatchString(out) {
			s.git.taken = c.Index
		}
		switch verb.name {
		case "add":
			if c.State == Done || c.State == Failed {
				s.git.added = append(s.git.added, verb.paths()...)
			}
		case "commit":
			s.commit(c, verb, out)
		case "checkout", "switch":
			if b := verb.branch(out); b != "" && c.State == Done && !elsewhere(line) {
				s.git.branch, s.git.at = clip(b, 200), c.Result.Rec
			}
		case "push":
			if strings.Contains(out, "[rejected]") || strings.Contains(out, "error: failed to push") {
				s.git.rejected = c.Index
				continue
			}
			s.git.rejected = 0
			if n := len(s.Commits); n > 0 && pushed.MatchString(out) {
				for i := n - 1; i >= 0 && s.Commits[i].Pushed < s.git.moved; i-- { // again after a merge
					s.Commits[i].Pushed = c.Index
				}
			}
			s.ranged(out)
		case "merge", "rebase", "cherry-pick", "pull", "revert":
			switch {
			case conflict.MatchString(out):
				s.git.stuck, s.git.verb = c.Index, verb.name
			case c.State == Done:
				s.git.verb = ""
				if !stayed.MatchString(out) && !slices.Contains(verb.args, "--abort") && !slices.Contains(verb.args, "--no-commit") && !strings.Contains(line, "git -C ") {
					s.git.moved, s.git.how, s.git.head = c.Index, verb.name, ""
					if verb.name == "rebase" || slices.Contains(verb.args, "--rebase") {
						s.rewrote(c.Index, len(s.Commits))
					}
					s.ranged(out)
				}
			}
		case "reset":
			if c.State != Done {
				continue
			}
			s.undo(verb.args)
			if slices.Contains(verb.args, "--hard") {
				for _, f := range s.Files {
					f.discard(c.Index)
				}
			}
		case "stash":
			if c.State == Done {
				s.stash(verb)
			}
		}
	}
}

// brings reports whether a git command may change files of the work tree.
func (v gitVerb) brings() bool {
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(v.args, w) })
	}
	switch v.name {
	case "merge", "rebase", "cherry-pick", "pull", "revert", "am", "apply":
		return true
	case "checkout", "switch":
		return !has("-b", "-B", "-c", "-C")
	case "reset":
		return has("--hard")
	case "restore":
		return !has("--staged")
	case "stash":
		return !has("list", "show", "drop")
	}
	return false
}

// ranged takes the newest commit of the branch from the range that git prints.
func (s *Session) ranged(out string) {
	if all := ranged.FindAllStringSubmatch(out, -1); len(all) == 1 {
		s.git.head = clip(all[0][1], 40)
	}
}

// close marks every file as not changed, and returns those that were.
func (s *Session) close() (open []*File) {
	for _, f := range s.Files {
		if f.Open {
			f.Open, open = false, append(open, f)
		}
	}
	return open
}

// discard takes back what no commit took.
func (f *File) discard(at int32) {
	if f.Open {
		f.drop(at, func(_ string, c *Call) bool { return c.Index < 0 || c.Index >= f.Opened })
	}
	f.Open = false
}

// stash takes a `git stash` of everything, and one that brings it back.
func (s *Session) stash(verb gitVerb) {
	what := append(slices.Clone(verb.args), "push")[0]
	switch {
	case (what == "push" || what == "save" || strings.HasPrefix(what, "-")) && !slices.Contains(verb.args, "--"):
		s.git.stashed = s.close()
	case what == "pop" || what == "apply":
		for _, f := range s.git.stashed {
			f.Open = true
		}
		s.git.stashed = nil
	}
}

// clean reports whether the output of a `git status` says that nothing is changed. The short form says it by silence.
func (c *Call) clean(line, out string) bool {
	parts, ok := transcript.SplitCommand(line)
	if !ok || len(parts) != 1 {
		return clean.MatchString(out)
	}
	short := strings.TrimSpace(out) == "" && c.State == Done && c.HasExit && c.Exit == 0 && !parts[0].Writes
	for _, v := range gitVerbs(line) {
		short = short && len(v.args) == 1 && (v.args[0] == "--short" || v.args[0] == "-s" || v.args[0] == "--porcelain")
	}
	return short || clean.MatchString(out)
}

// undo takes back the commits that a reset goes behind.
func (s *Session) undo(args []string) {
	for _, a := range args {
		rest, ok := strings.CutPrefix(a, "HEAD")
		if !ok || rest == "" {
			continue
		}
		n := strings.Count(rest, "^")
		if number, ok := strings.CutPrefix(rest, "~"); ok {
			if n = 1; number != "" {
				n, _ = strconv.Atoi(number)
			}
		}
		s.Commits = s.Commits[:max(0, len(s.Commits)-max(n, 0))]
	}
}

// commit takes a `git commit`. Its own line in the output proves it, or else the status of the whole line.
func (s *Session) commit(c *Call, verb gitVerb, out string) {
	m := committed.FindStringSubmatch(out)
	if m == nil && (c.State != Done || c.Silent || slices.Contains(verb.args, "--dry-run")) {
		return
	}
	one := Commit{Event: c.Index, Pushed: -1}
	if m != nil {
		one.Branch, one.Hash, one.Subject = clip(m[1], 200), clip(m[2], 40), clip(m[3], 300)
		if one.Branch == "detached HEAD" {
			one.Branch = ""
		}
		if one.Branch != "" {
			s.git.branch, s.git.at = one.Branch, c.Result.Rec
		}
	}
	if s.git.verb != "" {
		s.git.verb = ""
	}
	if slices.Contains(verb.args, "--amend") {
		s.rewrote(c.Index, 1)
	}
	s.Commits = append(s.Commits, one)
	s.git.moved, s.git.head, s.git.listed = 0, "", Listing{}
	took := s.git.added
	s.git.added = nil
	if verb.all() || len(took) == 0 {
		took = append(took, ".")
	}
	took = append(took, verb.paths()...)
	for _, f := range s.Files {
		if f.Open && takes(took, f.Path, c.Dir, s.root) {
			f.Open = false
		}
	}
}

// rewrote notes that the newest of the commits, as far as they were not pushed, have other hashes now.
func (s *Session) rewrote(at int32, most int) {
	for n := len(s.Commits) - 1; n >= 0 && most > 0 && s.Commits[n].Pushed < 0; n, most = n-1, most-1 {
		s.Commits[n].Rewrote = at
	}
}

// takes reports whether one of the paths of an add or a commit includes a file. What is uncertain counts as included, so that
// a file is only called uncommitted if no commit can have taken it.
func takes(paths []string, file, dir, root string) bool {
	for _, p := range paths {
		p = strings.Trim(p, `"'`)
		switch {
		case p == "." || p == "-A" || p == "--all" || p == "-u" || p == "*" || strings.HasPrefix(p, ":") || strings.ContainsAny(p, "$`"):
			return true
		case strings.ContainsAny(p, "*?"):
			if ok, err := path.Match(path.Base(p), path.Base(file)); ok || err != nil {
				return true
			}
		default:
			p = strings.TrimSuffix(strings.TrimPrefix(p, "./"), "/")
			if transcript.EndsWith(file, p) || strings.Contains("/"+file, "/"+p+"/") || strings.HasPrefix(file, p+"/") {
				return true
			}
		}
	}
	return false
}

// gitVerb is one git command of a line, with its arguments.
type gitVerb struct {
	name string
	args []string
}

// branch returns the branch that a checkout or switch goes to, "" if it is not certain.
func (v gitVerb) branch(out string) string {
	var names []string
	for i, a := range v.args {
		switch {
		case (a == "-b" || a == "-B" || a == "-c" || a == "-C") && i+1 < len(v.args):
			return v.args[i+1]
		case a == "--":
			return ""
		case !strings.HasPrefix(a, "-"):
			names = append(names, a)
		}
	}
	if len(names) == 1 && (v.name == "switch" || strings.Contains(out, "Your branch is") || strings.Contains(out, "Switched to")) {
		return names[0]
	}
	return ""
}

// all reports whether a commit takes every changed file.
func (v gitVerb) all() bool {
	for _, a := range v.args {
		if a == "--all" || a == "--amend" || len(a) > 1 && a[0] == '-' && a[1] != '-' && strings.ContainsRune(a, 'a') {
			return true
		}
	}
	return false
}

// paths returns the arguments that name what an add takes.
func (v gitVerb) paths() (all []string) {
	skip := false
	for _, a := range v.args {
		switch {
		case skip:
			skip = false
		case a == "-A" || a == "--all" || a == "-u":
			all = append(all, a)
		case a == "-m" || a == "-F" || a == "-c" || a == "-C" || a == "--author" || a == "-am":
			skip = true
		case strings.HasPrefix(a, "-"):
		default:
			all = append(all, a)
		}
	}
	if v.name == "commit" && !slices.Contains(v.args, "--") {
		return nil // a message without its option, or a path: uncertain
	}
	return all
}

var gitWord = regexp.MustCompile(`(?:^|[\s;&|(])git((?:\s+-[cC]\s+\S+|\s+--?[\w-]+(?:=\S+)?)*)\s+([a-z-]+)`)

// gitVerbs returns the git commands of a line in order.
func gitVerbs(line string) (all []gitVerb) {
	if parts, ok := transcript.SplitCommand(line); ok {
		for i := range parts {
			p := plainOf(&parts[i])
			args := p.args
			for p.name == "git" && len(args) > 0 && strings.HasPrefix(args[0], "-") {
				n := 1
				if args[0] == "-C" || args[0] == "-c" {
					n = 2
				}
				args = args[min(n, len(args)):]
			}
			if p.name == "git" && len(args) > 0 {
				all = append(all, gitVerb{args[0], args[1:]})
			}
		}
		return all
	}
	for _, m := range gitWord.FindAllStringSubmatchIndex(line, -1) { // here-documents and substitutions: the words up to the next command
		rest, _, _ := strings.Cut(line[m[1]:], "\n")
		if i := strings.IndexAny(rest, ";&|<"); i >= 0 {
			rest = rest[:i]
		}
		all = append(all, gitVerb{line[m[4]:m[5]], strings.Fields(rest)})
	}
	return all
}
