package session

import (
	"slices"
	"strings"

	"ccd/internal/transcript"
)

// goal is the purpose of a command: a program with its sub-command, on targets. A later success of the same goal resolves a
// failure even if the command differs.
type goal struct {
	what    string   // program and sub-command: "go test", "npm run build", "pytest"
	dir     string   // where it runs, "" if unknown
	narrow  string   // the options that exclude a part of the work, as given
	targets []string // its operands relative to dir; none means everything
	proved  bool     // a success of the whole line proves a success of this goal
	piped   bool     // its status is not that of the line, so error lines in the output count against it
}

// run is the meaning of a command line.
type run struct {
	known    bool   // the line could be analyzed
	lookUp   bool   // every part is a look-up
	compares bool   // every part is a look-up or a comparison
	guarded  bool   // it begins with a look-up that decides whether the rest runs
	goals    []goal // goals of the other parts; none if they cannot be determined
}

// Limits of a goal. Goals beyond them are not determined.
const (
	maxGoals   = 4
	maxTargets = 8
	maxTarget  = 200 // bytes
)

// runOf analyzes the command line of a call. It returns the zero run if that cannot be done.
func runOf(a *transcript.Action) run {
	same := transcript.NormalizeRun(a.Dir, a.Command)
	parts, ok := transcript.SplitCommand(same.Command)
	if !ok || len(parts) == 0 {
		return run{}
	}
	chain := 0 // start of the last chain, whose status is that of the line
	for i := range parts {
		if parts[i].Join == ";" || parts[i].Join == "&" {
			chain = i
		}
	}
	// If the last chain has a choice, its success does not prove which part succeeded.
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
		told = told && (looks || !c.looped)
		switch {
		case c.name == "cd":
			told = told && len(c.args) == 1 && c.args[0] != "" && strings.IndexByte("$-~", c.args[0][0]) < 0
			dir = transcript.Join(dir, strings.Join(c.args, " "))
		case !looks && !helpers[c.name] && !lookUps[c.name]: // what only prints may write a file
			g, ok := goalOf(&c, dir)
			told = told && ok
			g.proved = proves && i >= chain
			g.piped = same.Filtered || i+1 < len(parts) && parts[i+1].Join == "|"
			r.goals = append(r.goals, g)
		}
	}
	if r.known = told && len(r.goals) <= maxGoals; !r.known {
		r.goals = nil
	}
	return r
}

// direct are programs without sub-commands: their first operand is a target.
var direct = set("pytest jest vitest mocha rspec phpunit tsc eslint prettier mypy black flake8 pylint pyright gcc g++ cc clang " +
	"javac rustc curl wget shellcheck gofmt gofumpt golangci staticcheck")

// interpreters run the program in their first operand. Code within the command itself has no goal that could be compared.
var interpreters = set("python python3 py node deno bun ruby perl php bash sh zsh tsx ts-node lua Rscript java osascript")

// single are commands with a single purpose, so any later success resolves a failure, whatever the operands.
var single = set("git-push git-commit git-pull git-fetch")

// narrowing are options that exclude the work or a part of it. The word after one counts as its value; if it is not, the goal
// covers less, which can only leave a problem open. The value of any other option counts as a target.
var narrowing = set("-run --run --grep --filter --package --project -skip --skip --deselect --ignore --testNamePattern --testPathPattern " +
	"--workspace -k -m -t -g -p -w --lf --last-failed --ff --dry-run --collect-only --list --no-run -short --changed --onlyChanged")

// selecting are those of them that choose tests by their names.
var selecting = set("-run --run --grep --filter --testNamePattern -k -t")

// sending are options of programs that talk to another machine with which a request writes; one that reads is another request.
var sending = set("-X --method --request -f -F --field --raw-field --form --input -d --data --data-raw --data-binary --json -T --upload-file")

// dirOptions are options whose value is the directory to work in.
var dirOptions = set("-C --prefix --cwd --dir --directory")

// goalOf returns the goal of a plain command that runs in dir. ok is false if it cannot be determined.
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
		case remote[c.name] && sending[name]:
			g.what += " " + name
			if i++; (name == "-X" || name == "--method" || name == "--request") && i < len(c.args) {
				g.what += " " + c.args[i]
			}
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

// isVerb reports whether a word may be a sub-command: a plain word, neither a path nor a number.
func isVerb(w string) bool {
	return w[:min(1, len(w))] >= "a" && strings.Trim(w, "abcdefghijklmnopqrstuvwxyz0123456789-_:") == ""
}

// covers reports whether a success of g resolves a failure of the goal failed: same program and sub-command, nothing excluded
// that the failed run included, and no targets, or targets that include the failed ones. failing are the tests that failed: to
// select them is to exclude nothing.
func (g *goal) covers(failed *goal, failing []string) bool {
	if g.what != failed.what || g.narrow != "" && g.narrow != failed.narrow && !g.selects(failing) {
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

// selects reports whether the options that narrow a goal choose each of the tests.
func (g *goal) selects(tests []string) bool {
	option, value, _ := strings.Cut(strings.TrimSpace(g.narrow), " ")
	if len(tests) == 0 || !selecting[option] || strings.Contains(value, " -") {
		return false
	}
	names := strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" |^$()'\"/", r) })
	return !slices.ContainsFunc(tests, func(test string) bool {
		return !slices.ContainsFunc(names, func(name string) bool { return len(name) > 3 && strings.Contains(test, name) })
	})
}

// within reports whether a target equals base, or is below it and the program works recursively.
func (g *goal) within(target, base string) bool {
	if transcript.SamePath(target, base) || strings.HasPrefix(target, base+"::") {
		return true
	}
	if program, _, _ := strings.Cut(g.what, " "); remote[program] { // another address is another request
		return false
	}
	if dir, ok := strings.CutSuffix(base, "/..."); ok {
		target, base = strings.TrimSuffix(target, "/..."), dir
	} else if strings.Contains(base, "://") || strings.HasPrefix(g.what, "go ") || strings.HasSuffix(target, "/...") {
		return false
	}
	_, below := transcript.Below(target, base)
	return below || transcript.SamePath(target, base)
}
