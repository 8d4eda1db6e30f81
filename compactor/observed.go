package compactor

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"ccd/internal/mark"
	"ccd/internal/session"
	"ccd/internal/transcript"
)

// observation is what git printed about one thing, the newest of it.
type observation struct {
	at   *event
	text string
}

// What git prints. These are git's own words, which it does not translate in plumbing and rarely elsewhere.
var (
	printedHead     = regexp.MustCompile(`(?m)^HEAD is now at ([0-9a-f]{7,40}) (.*)$`)
	printedPush     = regexp.MustCompile(`(?m)^ ?([ +*!=-]) ?(\[[^\]]*\]|[0-9a-f]{6,}\.+[0-9a-f]{6,})\s+(\S+)\s+->\s+(\S+)`)
	printedBranch   = regexp.MustCompile(`(?m)(?:^On branch |^## |^\* |Switched to (?:a new )?branch ')([^\s'.]+(?:\.[^\s'.]+)*)`)
	printedFiles    = regexp.MustCompile(`(?m)^(?:([MADRCU?!][ MADRCU?!]?| [MADRCU?!]) (\S.*)|(?:\t| {4,})(?:([^\s:][^:]*:)\s+)?(\S.*))$`)
	printedAhead    = regexp.MustCompile(`(?m)^(?:Your branch is .*|Your branch and .*|## .*\[.*\])$`)
	printedClean    = regexp.MustCompile(`(?m)^nothing to commit.*$`)
	printedConflict = regexp.MustCompile(`(?m)^CONFLICT \(.*$`)
	printedStill    = regexp.MustCompile(`(?m)^(?:Already up[ -]to[ -]date|Current branch .* is up to date)`)
	inDirectory     = regexp.MustCompile(`\bgit(?:\s+-\S+)*?\s+-C\s+("[^"]*"|'[^']*'|\S+)(\s+-C\s)?`)
	printedLog      = regexp.MustCompile(`^(?:\* )?(?:commit )?([0-9a-f]{7,40})(?: \(([^)]*)\))?(?: (.*))?`)
)

// moving are the sub-commands of git that change the work tree or the branch without a commit of their own.
var moving = map[string]bool{
	"stash": true, "reset": true, "restore": true, "checkout": true, "switch": true, "merge": true, "rebase": true, "cherry-pick": true,
	"revert": true, "pull": true, "am": true, "clean": true,
}

// git says what git printed, and which files were edited after that.
func (h *handover) git() {
	seen := map[string]observation{}
	for _, e := range h.events {
		if e.kind == gitRun || e.kind == look || e.kind == run || e.kind == check || e.Kind == session.Shell {
			h.observe(e, seen)
		}
	}
	overtaken(seen, "ahead", "commit", "move", "conflict", "push")
	overtaken(seen, "status", "commit", "move", "conflict")
	overtaken(seen, "conflict", "commit")
	overtaken(seen, "move", "commit")
	if b := h.s.Branch; b.Name == session.Detached && seen["HEAD"].at != nil && seen["HEAD"].at.n <= int(b.Rec) {
		delete(seen, "HEAD")
	}
	all := h.branch(seen)
	for _, o := range inOrder(seen, "HEAD", "ahead", "status", "push", "conflict", "move") {
		all = append(all, fmt.Sprintf("%s (#%d)", o.text, o.at.n))
	}
	if len(all) > 0 {
		h.line("Git: %s", strings.Join(all, ", "))
	}
	h.editedSince(seen["status"].at)
}

// branch says on which branch the work is, by what git printed or the client records, whichever is newer.
func (h *handover) branch(seen map[string]observation) []string {
	name, n := h.s.Branch.Name, int(h.s.Branch.Rec)+1
	if b, ok := seen["branch"]; ok && b.at.n >= n {
		name, n = b.text, b.at.n
	}
	switch name {
	case "":
		return nil
	case session.Detached:
		return []string{fmt.Sprintf("%s (#%d)", name, n)}
	}
	return []string{fmt.Sprintf("branch `%s` (#%d)", mark.Inline(name, 100), n)}
}

// inOrder returns what git printed about some things, in the order of the records.
func inOrder(seen map[string]observation, things ...string) (all []observation) {
	for _, what := range things {
		if o, ok := seen[what]; ok {
			all = append(all, o)
		}
	}
	slices.SortStableFunc(all, func(a, b observation) int { return a.at.index - b.at.index })
	return all
}

// overtaken removes what git printed about one thing before it printed of others.
func overtaken(seen map[string]observation, what string, by ...string) {
	for _, other := range by {
		if o, ok := seen[other]; ok && seen[what].at != nil && seen[what].at.index < o.at.index {
			delete(seen, what)
		}
	}
}

// observe takes what one command printed about the session's repository.
func (h *handover) observe(e *event, seen map[string]observation) {
	c := e.Call
	if len(e.git) == 0 && e.kind == look || c.State == session.Refused || c.Result.Zero() || h.elsewhere(c) {
		return
	}
	out := h.output(c)
	if len(e.git) == 0 && !strings.Contains("\n"+out, "\n[") { // a script that commits prints git's line
		return
	}
	if m := last(session.CommitLine, out); m != nil {
		seen["HEAD"] = observation{e, fmt.Sprintf("HEAD `%s` %s", m[2], asText(h.proves(c.Result, m[3]), 80))}
		seen["branch"], seen["commit"] = observation{e, m[1]}, seen["HEAD"]
	}
	for i, args := range e.git {
		swallowed := seen["commit"].at == e && moves(args) && slices.ContainsFunc(e.git[i+1:], func(later []string) bool { return later[0] == "commit" })
		if !swallowed { // by a commit of the same line
			h.observeVerb(e, args, out, seen)
		}
	}
}

// observeVerb takes what one git command of a line printed.
func (h *handover) observeVerb(e *event, args []string, out string, seen map[string]observation) {
	switch verb := args[0]; {
	case verb == "push" && !slices.Contains(args, "-n") && !slices.Contains(args, "--dry-run"):
		if m := pushLine(e, out); m == nil || m[2] != "[new tag]" || seen["push"].at == nil { // which pushes no branch
			seen["push"] = observation{e, h.pushed(e.Call, m)}
		}
	case verb == "status" && e.Call.State != session.Failed:
		h.status(e, out, seen)
	case moves(args):
		h.moved(e, args, out, seen)
	}
	if m := last(printedBranch, out); args[0] == "stash" && m != nil && e.single() && strings.HasPrefix(m[0], "On ") { // what it brought back
		h.status(e, out, seen)
		seen["branch"] = observation{e, m[1]}
	}
	if e.Call.State == session.Done {
		h.observeDone(e, args, out, seen)
	}
}

// observeDone takes what a git command printed that did not fail.
func (h *handover) observeDone(e *event, args []string, out string, seen map[string]observation) {
	switch verb := args[0]; {
	case verb == "commit" && !e.Call.Silent && last(session.CommitLine, out) == nil: // HEAD is another one, and nobody knows which
		delete(seen, "HEAD")
		seen["commit"] = observation{at: e}
	case verb == "log" && onlyFlags(args[1:]), verb == "show" && onlyFlags(slices.DeleteFunc(slices.Clone(args[1:]), func(w string) bool { return w == "HEAD" })):
		if m := printedLog.FindStringSubmatch(out); m != nil {
			seen["HEAD"] = observation{e, strings.TrimSpace(fmt.Sprintf("HEAD `%s` %s", h.proves(e.Call.Result, m[1])[:min(len(m[1]), 12)], subject(m[3])))}
		}
	}
	if m := branchPrinted(args, out); m != nil {
		seen["branch"] = observation{e, m[1]}
	} else if name := madeBranch(args); name != "" && !e.Call.Silent {
		seen["branch"] = observation{e, name}
	}
}

// moved takes what a git command printed that moves the work tree or the branch. Another branch keeps what is not committed.
func (h *handover) moved(e *event, args []string, out string, seen map[string]observation) {
	switched := branchPrinted(args, out) != nil || madeBranch(args) != ""
	h.movedHead(e, args, out, switched, seen)
	if switched && e.Call.State == session.Done { // the branch says it
		delete(seen, "ahead")
		if m := seen["move"].at; m != nil && m.failed {
			delete(seen, "move")
		}
		return
	}
	what := "move"
	conflict := printedConflict.FindString(out)
	if conflict != "" {
		what = "conflict"
	} else if e.Call.State == session.Done && commits[args[0]] {
		delete(seen, "conflict")
	}
	doing, said := "`git "+mark.Inline(strings.Join(args, " "), 70)+"`", ""
	switch {
	case conflict != "" && len(slices.DeleteFunc(slices.Clone(e.git), func(args []string) bool { return !moves(args) })) == 1:
		said = h.result(e.Call, joined(conflict))
	case e.single():
		said = h.lastLine(e.Call)
	case e.failed: // nobody knows which command of the line did
		doing = h.doing(e.Call, 70)
	}
	seen[what] = observation{e, doing + ending(e.Call) + said}
}

// movedHead takes where HEAD is after a git command that moves it; switched: to another branch.
func (h *handover) movedHead(e *event, args []string, out string, switched bool, seen map[string]observation) {
	if m := last(printedHead, out); m != nil {
		seen["HEAD"] = observation{e, fmt.Sprintf("HEAD `%s` %s", m[1], asText(m[2], 80))}
		if args[0] == "checkout" || args[0] == "switch" {
			seen["branch"] = observation{e, session.Detached}
		}
	} else if e.Call.State == session.Done && commits[args[0]] && last(session.CommitLine, out) == nil && !printedStill.MatchString(out) || switched && madeBranch(args) == "" {
		delete(seen, "HEAD")
	}
}

// commits are the sub-commands of git that move HEAD to another commit without saying to which.
var commits = map[string]bool{"merge": true, "pull": true, "rebase": true, "cherry-pick": true, "revert": true, "am": true, "reset": true}

// madeBranch returns the name of the branch that a git command makes and switches to, "" if it makes none.
func madeBranch(args []string) string {
	if args[0] == "switch" || args[0] == "checkout" {
		for i, w := range args[:len(args)-1] {
			if w == "-c" || w == "-C" || w == "-b" || w == "-B" || w == "--create" {
				return args[i+1]
			}
		}
	}
	return ""
}

// pushLine returns the last line of a branch that a push printed, else that of a tag, in its parts. A fetch prints such lines too, but not
// below "To": without that line, a command that also fetches has none.
func pushLine(e *event, out string) (found []string) {
	i := strings.LastIndex("\n"+out, "\nTo ")
	if i < 0 && slices.ContainsFunc(e.git, func(args []string) bool { return args[0] == "fetch" || args[0] == "pull" }) {
		return nil
	}
	for _, m := range printedPush.FindAllStringSubmatch(out[max(0, i):], -1) {
		if found == nil || m[2] != "[new tag]" || found[2] == "[new tag]" {
			found = m
		}
	}
	return found
}

// pushed says what a push printed; m is its line.
func (h *handover) pushed(c *session.Call, m []string) string {
	who := ""
	if c.Tool == "" {
		who = "the human's "
	}
	if m == nil {
		return who + "push" + ending(c)
	}
	from := ""
	if m[3] != m[4] {
		from = " of " + m[3]
	}
	text := fmt.Sprintf("%spush %s%s to %s", who, m[2], from, h.proves(c.Result, m[4]))
	if m[1] == "+" {
		text += ", forced"
	}
	return text
}

// moves reports whether a git command moves the work tree or the branch without a commit of its own.
func moves(args []string) bool {
	return moving[args[0]] && !(args[0] == "stash" && len(args) > 1 && (args[1] == "list" || args[1] == "show"))
}

// branchPrinted returns where a git command printed the branch that is checked out, nil if it does not print that.
func branchPrinted(args []string, out string) []string {
	switch verb := args[0]; {
	case verb == "status", verb == "checkout", verb == "switch", verb == "branch" && !slices.Contains(args, "-a") && !slices.Contains(args, "-r"):
		return last(printedBranch, out)
	}
	return nil
}

// subject returns the subject of a commit in quotes, "" for none.
func subject(text string) string {
	if text == "" {
		return ""
	}
	return asText(text, 80)
}

// status takes what a `git status` printed: how the branch stands, and the files.
func (h *handover) status(e *event, out string, seen map[string]observation) {
	who := "status: "
	if e.Call.Tool == "" {
		who = "the human's status: "
	}
	delete(seen, "ahead")
	if m := printedAhead.FindString(out); m != "" {
		seen["ahead"] = observation{e, who + mark.Inline(strings.TrimPrefix(m, "## "), 120)}
		who = ""
	}
	files := printedFiles.FindAllStringSubmatch(out, -1)
	if !e.single() { // another command may have printed what is indented with spaces
		files = slices.DeleteFunc(files, func(m []string) bool { return strings.HasPrefix(m[0], "    ") })
	}
	var names []string
	for _, m := range files[:min(len(files), mostListed)] {
		names = append(names, mark.Inline(strings.TrimSpace(cmp.Or(strings.TrimSpace(m[1]), m[3])+" "+m[2]+m[4]), 100))
	}
	text := strings.Join(names, ", ")
	if n := len(files) - len(names); n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	rows := strings.Split(strings.TrimSpace(out), "\n")
	switch {
	case len(names) > 0:
		text = "files " + text
	case printedClean.MatchString(out):
		text = printedClean.FindString(out)
	case who == "" || !e.single():
		delete(seen, "status")
		return
	case hasWord(rows[0]): // in another language
		text = asText(strings.Join(rows[:min(2, len(rows))], " "), 120)
		if n := len(rows); n > 2 && hasWord(rows[n-1]) {
			text += "; " + asText(rows[n-1], 120)
		}
	default:
		text = "printed nothing"
	}
	seen["status"] = observation{e, who + text}
}

// single reports whether a line has one command, so that what it prints is that command's.
func (e *event) single() bool {
	parts, ok := transcript.SplitCommand(e.Call.Command)
	return ok && len(parts) == 1
}

// mostListed is how many files a line lists.
const mostListed = 8

// onlyFlags reports whether the arguments of a log name neither a revision nor a path, so that it begins with HEAD. A number of
// four digits or more is a revision.
func onlyFlags(args []string) bool {
	return !slices.ContainsFunc(args, func(w string) bool {
		return !strings.HasPrefix(w, "-") && (strings.Trim(w, "0123456789") != "" || len(w) > 3) || strings.HasPrefix(w, "--all") || strings.HasPrefix(w, "--grep") ||
			strings.HasPrefix(w, "--author") || strings.HasPrefix(w, "--reverse") || w == "--" || strings.HasPrefix(w, "-S") || strings.HasPrefix(w, "--skip")
	})
}

// dirOf returns where a command runs, "" if no record says it.
func (h *handover) dirOf(c *session.Call) string {
	return transcript.NormalizeRun(c.Dir, c.Command).Dir
}

// elsewhere reports whether a command runs git in another directory than the session's.
func (h *handover) elsewhere(c *session.Call) bool {
	if strings.Contains(c.Command, "--git-dir") {
		return true
	}
	for _, m := range inDirectory.FindAllStringSubmatch(c.Command, -1) {
		at := strings.Trim(m[1], `"'`)
		if m[2] != "" || !slices.ContainsFunc(h.roots, func(root string) bool { return transcript.SamePath(root, at) }) {
			return true
		}
	}
	dir := h.dirOf(c)
	return dir != "" && transcript.IsAbs(dir) && h.outside(dir) && !slices.ContainsFunc(h.roots, func(root string) bool { return transcript.Inside(root, dir) })
}

// outside reports whether a path is in none of the session's directories.
func (h *handover) outside(path string) bool {
	return len(h.roots) > 0 && !slices.ContainsFunc(h.roots, func(root string) bool { return transcript.Inside(path, root) })
}

// last returns the last match of an expression.
func last(x *regexp.Regexp, text string) []string {
	all := x.FindAllStringSubmatch(text, -1)
	if len(all) == 0 {
		return nil
	}
	return all[len(all)-1]
}
