package session

import (
	"regexp"
	"slices"
	"strings"

	"ccd/internal/transcript"
)

// Commit is a commit that git printed after a call of the session made it.
type Commit struct {
	Event   int32
	Branch  string // as git printed it; "" for a detached HEAD
	Hash    string // abbreviated, as git printed it
	Subject string
	Pushed  int32 // the event in which git printed a push after it, -1 if none did
}

// CommitLine matches what `git commit` prints, [branch hash] subject: its groups are these three.
var CommitLine = regexp.MustCompile(`(?m)^\[(detached HEAD|[^\s\]]+)(?: \(root-commit\))? ([0-9a-f]{7,40})\] (.*)$`)

// pushedLine is what `git push` prints when the remote took something or had all of it.
var pushedLine = regexp.MustCompile(`(?m)^(?:To \S+|Everything up-to-date$)`)

// committed takes the commits and pushes that git printed.
func (s *Session) committed(c *Call, out string) {
	pushes := strings.Contains(c.Command, "push")
	if !pushes && !strings.HasPrefix(out, "[") && !strings.Contains(out, "\n[") {
		return
	}
	if !s.commits(c) {
		return
	}
	at := c.Index
	if at < 0 {
		at = int32(len(s.Events) - 1)
	}
	if at < 0 { // all of the file is a sub-agent's
		return
	}
	for _, m := range CommitLine.FindAllStringSubmatch(out, -1) {
		one := Commit{Event: at, Branch: clip(m[1], 200), Hash: clip(m[2], 40), Subject: clip(m[3], 300), Pushed: -1}
		if one.Branch == "detached HEAD" {
			one.Branch = ""
		}
		s.Commits = append(s.Commits, one)
	}
	if !pushes || !pushedLine.MatchString(out) || strings.Contains(out, "[rejected]") || strings.Contains(out, "error: failed to push") {
		return
	}
	for i := range s.Commits {
		if s.Commits[i].Pushed < 0 {
			s.Commits[i].Pushed = at
		}
	}
}

// commits reports whether a command may commit or push in the session's repository: git does, or a program that is no look-up.
func (s *Session) commits(c *Call) bool {
	if dir := transcript.NormalizeRun(c.Dir, c.Command).Dir; s.root != "" && transcript.IsAbs(dir) && !transcript.Inside(dir, s.root) && !transcript.Inside(s.root, dir) {
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
