package unit

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"ccd/compactor/fold"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// git is the state of the repository by git's last outputs.
type git struct {
	branch, commit, subject, stash string
	committed, pushed, stashed     int      // records
	dirty                          []string // uncommitted paths, from git status
	status                         int      // the record of that git status
}

var (
	gitCommit  = regexp.MustCompile(`(?m)^\[(detached HEAD|\S+)(?: \([^)]*\))? ([0-9a-f]{7,40})\] (.+)$`)
	gitSwitch  = regexp.MustCompile(`(?m)^(?:Switched to (?:a new )?branch '([^']+)'|On branch (\S+))`)
	gitDirty   = regexp.MustCompile(`(?m)^(?:\t(?:modified|new file|deleted|both modified): +| ?[MADRU?]{1,2} +)([^\s]+)$`)
	gitStash   = regexp.MustCompile(`(?m)^Saved working directory and index state (?:WIP )?[Oo]n [^:]+: (.+)$`)
	gitBranch  = regexp.MustCompile(`\bgit (?:checkout|switch)(?: -[bcBCqf]+)* ([\w./-]*[\w/-])\s*(?:$|&&|;|\|)`)
	gitOneLine = regexp.MustCompile(`(?m)^([0-9a-f]{7,40}) (?:\([^)]*\) )?(\S.*)$`)
	gitBack    = regexp.MustCompile(`(?m)^Updated \d+ path`) // files were checked out, not a branch
	gitPush    = regexp.MustCompile(`(?m)\S+ -> \S+|Everything up-to-date`)
)

// maxGit is how many commands are searched for git's outputs.
const maxGit = 64

// git reads what the newest commands of git printed.
func (w *writer) git() git {
	var rows []int32
	for _, c := range w.f.Commands() {
		if len(rows) < maxGit && strings.Contains(c.Text, "git ") && !w.row(c.Row).Gone() {
			rows = append(rows, c.Row)
		}
	}
	var g git
	for n := len(rows) - 1; n >= 0; n-- {
		if i := w.row(rows[n]).Pair; i >= 0 && w.row(i).Kind == transcript.Result && !w.row(i).Has(fold.Failed|fold.Rejected) {
			type key struct{ command string }
			command := w.action(rows[n]).Command
			g.ran(derive(w.Source, i, key{command}, func([]byte) printed { return gitPrinted(command, w.outcome(i).Text) }), w.row(rows[n]).Record())
		}
	}
	return g
}

// printed is what the output of one command says.
type printed struct {
	branch, commit, subject, into, stash string
	pushed, unstashed, status            bool
	dirty                                []string
}

// gitPrinted reads the output of one command. into is the branch of a commit, "" if the output does not name it.
func gitPrinted(command, out string) (p printed) {
	if all := matches(gitSwitch, out, "Switched to", "On branch"); all != nil {
		p.branch = all[len(all)-1][1] + all[len(all)-1][2]
	}
	if all := matches(gitCommit, out, "["); all != nil {
		last := all[len(all)-1]
		p.into, p.commit, p.subject = last[1], last[2], last[3]
	} else if strings.Contains(command, "git commit") {
		if m := gitOneLine.FindStringSubmatch(out); m != nil {
			p.commit, p.subject = m[1], m[2]
		}
	}
	if m := gitBranch.FindStringSubmatch(command); m != nil && !gitBack.MatchString(out) {
		p.into = m[1]
	}
	p.pushed = strings.Contains(command, "git push") && gitPush.MatchString(out)
	if all := matches(gitStash, out, "Saved"); all != nil {
		p.stash = all[0][1]
	} else {
		p.unstashed = strings.Contains(command, "git stash pop") || strings.Contains(command, "git stash drop")
	}
	if p.status = strings.Contains(command, "git status"); p.status {
		for _, m := range gitDirty.FindAllStringSubmatch(out, -1) {
			p.dirty = append(p.dirty, m[1])
		}
	}
	return p
}

// matches returns all matches of an expression whose matches begin a line with one of starts. Most outputs have no such line,
// and finding that out costs less than the expression.
func matches(re *regexp.Regexp, text string, starts ...string) [][]string {
	for _, start := range starts {
		if strings.HasPrefix(text, start) || strings.Contains(text, "\n"+start) {
			return re.FindAllStringSubmatch(text, -1)
		}
	}
	return nil
}

// ran takes the output of one command.
func (g *git) ran(p printed, record int) {
	g.branch = cmp.Or(p.into, p.branch, g.branch)
	if p.commit != "" {
		g.commit, g.subject, g.committed, g.pushed, g.dirty, g.status = p.commit, p.subject, record, 0, nil, 0
	}
	if p.pushed {
		g.pushed = record
	}
	if p.stash != "" {
		g.stash, g.stashed, g.dirty = p.stash, record, nil
	} else if p.unstashed {
		g.stash = ""
	}
	if p.status {
		g.dirty, g.status = p.dirty, record
	}
}

// maxDirty is how many uncommitted paths are named.
const maxDirty = 10

func (g *git) text() string {
	var parts []string
	if g.branch != "" {
		parts = append(parts, "branch "+mark.Inline(g.branch, 120))
	}
	if g.commit != "" {
		last := fmt.Sprintf("last commit %s \"%s\" (#%d", g.commit, mark.Inline(g.subject, 200), g.committed)
		if g.pushed >= g.committed {
			parts = append(parts, fmt.Sprintf("%s, pushed #%d)", last, g.pushed))
		} else {
			parts = append(parts, last+", no push seen since)")
		}
	}
	if len(g.dirty) > 0 {
		var names []string
		for _, p := range g.dirty[:min(len(g.dirty), maxDirty)] {
			names = append(names, code(p, 200))
		}
		if left := len(g.dirty) - len(names); left > 0 {
			names = append(names, fmt.Sprintf("%d more", left))
		}
		parts = append(parts, fmt.Sprintf("uncommitted as of #%d: %s", g.status, strings.Join(names, " ")))
	}
	if g.stash != "" {
		parts = append(parts, fmt.Sprintf("stash \"%s\" (#%d)", mark.Inline(g.stash, 200), g.stashed))
	}
	if len(parts) == 0 {
		return ""
	}
	return "Git: " + strings.Join(parts, ", ") + "\n"
}
