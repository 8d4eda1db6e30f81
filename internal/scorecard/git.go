package scorecard

import (
	"slices"
	"strings"

	"ccd/compactor/lexicon"
	"ccd/internal/transcript"
)

// git is the state of the repository according to the last outputs of git. Anything they do not mention is no fact.
type git struct {
	branch, commit, stash *fact
	pushed                bool
	dirty                 []*fact
	record                source // of the push
}

var (
	committed = lazy(`(?m)^\[(\S+)(?: \([^)]*\))? ([0-9a-f]{7,40})\] (.+)$`)
	switched  = lazy(`(?m)^(?:Switched to (?:a new )?branch '([^']+)'|On branch (\S+))`)
	changed   = lazy(`(?m)^(?:\t(?:modified|new file|deleted|both modified): +| ?[MADRU?]{1,2} +)([^\s]+)$`)
	stashed   = lazy(`(?m)^Saved working directory and index state (?:WIP )?[Oo]n [^:]+: (.+)$`)
	refs      = lazy(`(?m)\S+ -> \S+`)
)

// maxDirty is the largest number of uncommitted changes that count as facts; an agent need not know more by name.
const maxDirty = 20

// read updates the state from the output of a git command.
func (g *git) read(command string, out *transcript.Outcome, at source) {
	if !strings.Contains(command, "git ") || out.Failed || out.HasExit && out.Exit != 0 {
		return
	}
	one := func(text, tail, status string) *fact {
		return &fact{text: lexicon.Head(normal(text), cmdChars), tail: lexicon.Head(normal(tail), cmdChars), status: status, strong: true, sources: []source{at}}
	}
	if all := switched().FindAllStringSubmatch(out.Text, -1); all != nil {
		last := all[len(all)-1]
		g.branch = one(last[1]+last[2], "", "branch")
	}
	if all := committed().FindAllStringSubmatch(out.Text, -1); all != nil {
		last := all[len(all)-1]
		if g.commit, g.dirty, g.pushed = one(last[2], last[3], ""), nil, false; last[1] != "detached" {
			g.branch = one(last[1], "", "branch")
		}
	}
	if strings.Contains(command, "git push") && refs().MatchString(out.Text) {
		g.pushed, g.record = true, at
	}
	if m := stashed().FindStringSubmatch(out.Text); m != nil {
		g.stash, g.dirty = one(m[1], "", "stash"), nil
	} else if strings.Contains(command, "git stash pop") || strings.Contains(command, "git stash drop") {
		g.stash = nil
	}
	if strings.Contains(command, "git status") {
		g.dirty = nil
		for _, m := range changed().FindAllStringSubmatch(out.Text, -1) {
			g.dirty = append(g.dirty, one(m[1], "", "uncommitted"))
		}
	}
}

func (g *git) facts() (all []*fact) {
	all = append(all, g.branch, g.commit, g.stash)
	if g.pushed && g.commit != nil {
		all = append(all, &fact{text: g.commit.text, status: "pushed", strong: true, sources: append([]source{g.record}, g.commit.sources...)})
	}
	if len(g.dirty) <= maxDirty {
		all = append(all, g.dirty...)
	}
	return slices.DeleteFunc(all, func(one *fact) bool { return one == nil })
}
