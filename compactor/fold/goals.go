package fold

import (
	"slices"
	"strings"

	"ccd/internal/transcript"
)

// goal is what a command is for: a program with its sub-command, on targets. A later success of the same goal makes a
// failure good, though it is another command.
type goal struct {
	what    string   // program and sub-command: "go test", "npm run build", "pytest"
	dir     string   // where it runs, "" where not told
	narrow  string   // the options that leave a part of the work out, as given
	targets []string // its operands, seen from dir; none: all that there is
	proved  bool     // a success of the whole line is one of this goal
	piped   bool     // its status is not that of the line: an output that speaks of errors speaks against it
}

// run is what a command line comes to.
type run struct {
	lookUp   bool   // every part of it only looks
	compares bool   // the parts that do more compare
	guarded  bool   // it begins with a look-up on which the rest depends
	goals    []goal // of the rest; none where they cannot be told
}

// What is kept of a goal. One with more cannot be told.
const (
	maxGoals   = 4
	maxTargets = 8
	maxTarget  = 200 // bytes
)

// runOf understands the command line of a call; the zero run where there is none, or it is too long.
func runOf(a *transcript.Action) run {
	if a.Op != transcript.Command || a.Stdin || a.Command == "" || len(a.Command) > maxPending {
		return run{}
	}
	same := transcript.Same(a.Dir, a.Command)
	parts, ok := transcript.SplitCommand(same.Command)
	if !ok || len(parts) == 0 {
		return run{}
	}
	chain := 0 // where the last chain begins: its status is that of the line
	for i := range parts {
		if parts[i].Join == ";" || parts[i].Join == "&" {
			chain = i
		}
	}
	// Where the last chain has a choice, its success proves nothing for certain.
	proves := !slices.ContainsFunc(parts[chain:], func(p transcript.Simple) bool { return p.Join == "||" })
	r := run{lookUp: true, compares: true, guarded: len(parts) > 1}
	dir, told := transcript.Join("", same.Dir), true
	for i := range parts {
		c := plainOf(&parts[i])
		looks := c.isLookUp()
		r.lookUp = r.lookUp && looks
		r.compares = r.compares && (looks || compares[c.name])
		if i == 0 {
			r.guarded = r.guarded && looks
		} else {
			r.guarded = r.guarded && (parts[i].Join == "&&" || parts[i].Join == "|")
		}
		told = told && !c.looped
		switch {
		case c.name == "cd":
			told = told && len(c.args) == 1 && c.args[0] != "" && strings.IndexByte("$-~", c.args[0][0]) < 0
			dir = transcript.Join(dir, strings.Join(c.args, " "))
		case !looks && !helpers[c.name]:
			g, ok := goalOf(&c, dir)
			told = told && ok
			g.proved = proves && i >= chain
			g.piped = same.Filtered || i+1 < len(parts) && parts[i+1].Join == "|"
			r.goals = append(r.goals, g)
		}
	}
	if !told || len(r.goals) > maxGoals {
		r.goals = nil
	}
	return r
}

// direct are programs without sub-commands: their first operand is a target.
var direct = set("pytest jest vitest mocha rspec phpunit tsc eslint prettier mypy black flake8 pylint pyright gcc g++ cc clang " +
	"javac rustc curl wget shellcheck gofmt gofumpt golangci staticcheck")

// interpreters run a program that is their first operand. What stands in the command itself has no goal to compare.
var interpreters = set("python python3 py node deno bun ruby perl php bash sh zsh tsx ts-node lua Rscript java osascript")

// single are commands for which any success of the same will do, whatever the operands are: there is one thing to be done.
var single = set("git-push git-commit git-pull git-fetch")

// narrowing are options that leave the work, or a part of it, out. The word behind one counts as its value: where it is
// none, the goal reaches less far. The value of any other option counts as a target.
var narrowing = set("-run --run --grep --filter --package --project -skip --skip --deselect --ignore --testNamePattern --testPathPattern " +
	"--workspace -k -m -t -g -p -w --lf --last-failed --ff --dry-run --collect-only --list --no-run -short --changed --onlyChanged")

// dirOptions are options whose value is the directory to work in.
var dirOptions = set("-C --prefix --cwd --dir --directory")

// goalOf is the goal of a plain command that runs in dir. It fails where the words do not tell one.
func goalOf(c *plain, dir string) (goal, bool) {
	g := goal{what: c.name, dir: dir}
	levels := 1 // sub-commands that may follow
	if interpreters[c.name] || direct[c.name] {
		levels = 0
	}
	if strings.Contains(c.name, "/") {
		g.what, levels = transcript.Join(dir, c.name), 0
	}
	var targets []string
	for i := 0; i < len(c.args); i++ {
		w := c.args[i]
		name, value, joined := strings.Cut(w, "=")
		if (narrowing[name] || dirOptions[name]) && !joined && i+1 < len(c.args) {
			i++
			value = c.args[i]
		}
		switch {
		case dirOptions[name]:
			g.dir = transcript.Join(g.dir, value)
		case narrowing[name]:
			g.narrow += name + " " + value + " "
		case interpreters[c.name] && len(targets) == 0 && (strings.HasPrefix(w, "-c") || w == "-" || w == "-e" || w == "-r" || w == "-lc" || w == "--eval"):
			return goal{}, false
		case strings.HasPrefix(w, "-"), transcript.IsAssignment(w), strings.Trim(w, "0123456789.smhx") == "":
		case levels > 0 && len(targets) == 0 && isVerb(w):
			g.what += " " + w
			if levels--; w == "run" || w == "exec" || w == "run-script" || w == "compose" {
				levels++
			}
		case len(w) > maxTarget || strings.ContainsAny(w, "*?$"):
			return goal{}, false
		default:
			levels = 0
			targets = append(targets, w)
		}
	}
	if interpreters[c.name] && len(targets) == 0 || len(targets) > maxTargets || len(g.narrow) > maxTarget {
		return goal{}, false
	}
	g.what, g.dir = clip(g.what, maxTarget), clip(g.dir, maxPath)
	if single[strings.ReplaceAll(g.what, " ", "-")] {
		return goal{what: g.what}, true
	}
	for _, t := range targets {
		if !strings.Contains(t, "://") {
			t = transcript.Join(g.dir, t)
		}
		g.targets = append(g.targets, t)
	}
	if strings.HasPrefix(g.what, "go ") && len(targets) == 0 {
		g.targets = []string{g.dir}
	}
	return g, true
}

// isVerb reports whether a word may be a sub-command: a plain word, no path and no figure.
func isVerb(w string) bool {
	return w[:min(1, len(w))] >= "a" && strings.Trim(w, "abcdefghijklmnopqrstuvwxyz0123456789-_:") == ""
}

// covers reports whether a success of g makes a failure of the goal good: the same program and sub-command, nothing left
// out that the failure had in, and no targets of its own, or such as the failure's are among or below.
func (g *goal) covers(failed *goal) bool {
	if g.what != failed.what || g.narrow != "" && g.narrow != failed.narrow {
		return false
	}
	targets, bases := failed.targets, g.targets
	if len(bases) == 0 {
		targets, bases = []string{failed.dir}, []string{g.dir}
	} else if len(targets) == 0 {
		targets = []string{failed.dir}
	}
	return !slices.ContainsFunc(targets, func(t string) bool {
		return !slices.ContainsFunc(bases, func(base string) bool { return g.within(t, base) })
	})
}

// within reports whether a target is the other one, or below it as far as the program works on what is below.
func (g *goal) within(target, base string) bool {
	if transcript.SamePath(target, base) || strings.HasPrefix(target, base+"::") {
		return true
	}
	if dir, ok := strings.CutSuffix(base, "/..."); ok {
		target, base = strings.TrimSuffix(target, "/..."), dir
	} else if strings.Contains(base, "://") || strings.HasPrefix(g.what, "go ") || strings.HasSuffix(target, "/...") {
		return false
	}
	_, below := transcript.Below(target, base)
	return below || transcript.SamePath(target, base)
}
