package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	agentsetup "ccd/cmd/ccd/internal/setup"
	"ccd/internal/agent/registry"
	"ccd/internal/config"
)

// agentsFlags are those of `ccd agents`.
type agentsFlags struct {
	live, allow, noAllow, dryRun bool
	reach                        string
}

func (a *app) agentsCommand() *cobra.Command {
	p := page{
		use: "agents [install|uninstall|status]", group: agents, short: "list agents; connect Claude Code and Codex to ccd",
		forms: []string{
			"ccd agents",
			"ccd agents install [claude|codex|all] [--live] [--allow|--no-allow] [--reach project|all] [--dry-run]",
			"ccd agents uninstall [claude|codex|all] [--dry-run]",
			"ccd agents status [claude|codex|all]",
		},
		long: `Without an argument, ccd agents lists the agents that ccd knows: whether the agent's directory is on this
machine, whether it has transcripts, and whether it is connected to ccd. It looks that up for Claude Code
and Codex; for the others it says how to connect them.

install merges into the agent's own settings: hooks (at the start of a session, before a compaction, and
at a prompt when the context is nearly full), the MCP server ` + "`ccd mcp`" + `, and a skill (Claude Code) or a
block in AGENTS.md (Codex) that says what a companion is. Everything else in these files stays as it is,
byte for byte; before its first change to a file it keeps a copy as FILE.ccd-backup. Run again, it mends
what is amiss, such as the path of a binary that moved. uninstall removes what ccd added, nothing else;
when the last agent goes, it also resets agents.reach (below).

Without a name it means every agent whose directory is there (~/.claude or $CLAUDE_CONFIG_DIR, ~/.codex
or $CODEX_HOME); install with a name makes what is missing. Rules that let Claude Code run ` + "`ccd agent`" + `
without asking are shown and asked for, never added silently.

An agent can read the sessions of its own project. --reach all lets agents read those of all projects,
--reach project undoes it; stored as agents.reach in the configuration.

Codex runs new or changed hooks only once you trust them: type /hooks in codex. Until then it skips them
without a word, in ` + "`codex exec`" + ` too.`,
		examples: []example{
			{"ccd agents", "which agents are here, and how to connect them"},
			{"ccd agents install", "every agent that is here"},
			{"ccd agents install --dry-run", "show what would be changed, as a diff"},
			{"ccd agents install claude --live --allow", "Claude Code, with live demotion and the rules"},
			{"ccd agents install claude --live=false", "without live demotion again"},
			{"ccd agents install --reach all", "let agents read the sessions of all projects"},
			{"ccd agents status", "what is installed, and whether its binary still stands"},
			{"ccd agents uninstall", "take it all out"},
		},
		json: "one array, an object an agent: agent, title, present (on this machine), roots, followed, installed,\n" +
			"how (to connect it to ccd)\n\n(status) one array, an object an agent: agent, directory, present, installed, reach (project, all),\n" +
			"parts (each name, file, state (installed, other, missing, unreadable), option, detail), binaries\n" +
			"(path, exists, this), notes",
	}
	var f agentsFlags
	c := p.command(cobra.MaximumNArgs(2), func(c *cobra.Command, args []string) error { return a.agents(c, args, f) })
	c.ValidArgs = []string{"install", "uninstall", "status"}
	c.Flags().BoolVar(&f.live, "live", false, "demote large outputs as they come (PostToolUse; Claude Code)")
	c.Flags().BoolVar(&f.allow, "allow", false, "add the rules without asking")
	c.Flags().BoolVar(&f.noAllow, "no-allow", false, "add no rules, do not ask")
	c.Flags().StringVar(&f.reach, "reach", "", "let agents read the sessions of their own `project`, or of all (default: unchanged)")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "print the changes as a unified diff, write nothing")
	return c
}

func (a *app) agents(c *cobra.Command, args []string, f agentsFlags) error {
	s, err := a.setup(c, f)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		if f != (agentsFlags{}) {
			return usage(c, errors.New("the list takes none of these flags"))
		}
		return a.agentsHere(s)
	}
	named, err := agentsNamed(args[1:])
	if err != nil {
		return usage(c, err)
	}
	switch args[0] {
	case "install":
		return a.agentsInstall(c, s, named, f)
	case "uninstall":
		return a.agentsUninstall(c, s, named, f)
	case "status":
		if f != (agentsFlags{}) {
			return usage(c, errors.New("status takes none of these flags"))
		}
		return a.agentsStatus(s, named)
	}
	return usage(c, fmt.Errorf("want install, uninstall or status, got %s", args[0]))
}

// agentsNamed returns the agents that an argument names, nil where it means those that are here.
func agentsNamed(args []string) ([]string, error) {
	switch arg := strings.Join(args, ""); arg {
	case "", "all":
		return nil, nil
	case "claude", agentsetup.Claude:
		return []string{agentsetup.Claude}, nil
	case agentsetup.Codex:
		return []string{agentsetup.Codex}, nil
	default:
		return nil, fmt.Errorf("want claude, codex or all, got %s", arg)
	}
}

// setup describes what this binary, with this configuration, is or would be to the user's agents; without a command line
// c it is only asked for their status.
func (a *app) setup(c *cobra.Command, f agentsFlags) (*agentsetup.Setup, error) {
	home, err := a.home()
	if err != nil {
		return nil, err
	}
	o := agentsetup.Options{Home: home, Getenv: a.getenv, Allow: f.allow}
	if o.Executable, err = stableExecutable(); err != nil {
		return nil, err
	}
	if c != nil && c.Flags().Changed("live") {
		o.Live = &f.live
	}
	if conf, err := a.config(); err == nil {
		o.Reach = conf.Agents.Reach
	}
	if a.configFile != "" {
		if o.Config, err = filepath.Abs(a.configFile); err != nil {
			return nil, fmt.Errorf("find configuration: %w", err)
		}
	}
	return agentsetup.New(o)
}

// stableExecutable is the path by which this program was called, made absolute: where that is a symlink, as of a package
// manager, it outlives the version that it leads to today. Only where that path cannot be told it is the file itself.
func stableExecutable() (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	called, err := exec.LookPath(os.Args[0])
	if err != nil {
		return exe, nil
	}
	if called, err = filepath.Abs(called); err != nil {
		return exe, nil
	}
	x, err := os.Stat(called)
	if err != nil {
		return exe, nil
	}
	if y, err := os.Stat(exe); err != nil || !os.SameFile(x, y) {
		return exe, nil
	}
	return called, nil
}

func (a *app) agentsInstall(c *cobra.Command, s *agentsetup.Setup, named []string, f agentsFlags) error {
	if err := a.noJSON(c); err != nil {
		return err
	}
	if f.allow && f.noAllow {
		return usage(c, errors.New("--allow and --no-allow exclude each other"))
	}
	which := named
	if which == nil {
		which = s.Present()
	}
	if len(which) == 0 && f.reach == "" {
		return hint(fmt.Errorf("find agents: neither %s nor %s is here", s.Dir(agentsetup.Claude), s.Dir(agentsetup.Codex)), "ccd agents install claude")
	}
	switch {
	case f.reach != "" && f.reach != config.ReachProject && f.reach != config.ReachAll:
		return usage(c, errors.New("--reach must be project or all"))
	case f.reach != "" && a.configFile != "": // ccd agent takes no --config: it would not see it
		return usage(c, errors.New("--reach cannot be used with --config; edit agents.reach in that file"))
	}
	if f.live && !slices.Contains(which, agentsetup.Claude) {
		return usage(c, errors.New("--live goes with claude: Codex has no such hook"))
	}
	p, err := s.Install(which...)
	if err != nil {
		return err
	}
	if slices.Contains(which, agentsetup.Claude) && !f.allow && !f.noAllow {
		add, err := a.askRules(c.Context(), s, f.dryRun)
		if err != nil {
			return err
		}
		if f.allow = add; add {
			if s, err = a.setup(c, f); err != nil {
				return err
			}
			if p, err = s.Install(which...); err != nil {
				return err
			}
		}
	}
	before, after := s.Reach(), cmp.Or(f.reach, s.Reach())
	if err := a.putReach(p, f.reach); err != nil {
		return err
	}
	if err := a.carryOut(p, f.dryRun, "everything is installed already", which); err != nil || f.dryRun {
		return err
	}
	a.sayReach(before, after)
	return nil
}

// sayReach says which sessions agents can read, if that changed or is more than the default.
func (a *app) sayReach(before, after string) {
	if before != after {
		a.say("agents.reach changed from %q to %q; it applies at once", before, after)
	}
	if after == config.ReachAll {
		a.say("agents can read the sessions of all projects (agents.reach = %q)", after)
	}
}

// putReach plans the change of agents.reach in the configuration, the one place that commands for agents believe.
func (a *app) putReach(p *agentsetup.Plan, reach string) error {
	if reach == "" {
		return nil
	}
	file, err := a.usualConfig()
	if err != nil {
		return err
	}
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read config: %w", err)
	}
	now, err := config.Put(string(text), reach)
	if err != nil {
		return hint(fmt.Errorf("read config %s: %w", file, err), "set it in that file: [agents] reach = \"%s\"", reach)
	}
	if now == string(text) {
		return nil
	}
	return p.Put(file, []byte(now))
}

// askRules shows the rules that are missing, and on a terminal asks whether they shall be added.
func (a *app) askRules(ctx context.Context, s *agentsetup.Setup, dryRun bool) (bool, error) {
	rules, err := s.Rules()
	if err != nil || len(rules) == 0 {
		return false, err
	}
	a.say("Claude Code asks before each `ccd agent restore`, `ccd agent show` and `ccd agent search`. These rules in permissions.allow would stop that:")
	for _, r := range rules {
		a.say("  %s", r)
	}
	in, ok := a.in.(*os.File)
	if !ok || !terminal(in) || dryRun {
		a.say("They are not added: `ccd agents install claude --allow` adds them, --no-allow keeps this quiet.")
		return false, nil
	}
	fmt.Fprint(a.err, "Add them? [y/N] ")
	text, err := answer(ctx, in)
	if text == "" {
		fmt.Fprintln(a.err)
	}
	text = strings.ToLower(text)
	return text == "y" || text == "yes", err
}

func (a *app) agentsUninstall(c *cobra.Command, s *agentsetup.Setup, named []string, f agentsFlags) error {
	if err := a.noJSON(c); err != nil {
		return err
	}
	if f.live || f.allow || f.noAllow || f.reach != "" {
		return usage(c, errors.New("uninstall takes --dry-run alone"))
	}
	if named == nil {
		named = agentsetup.Agents()
	}
	p, err := s.Uninstall(named...)
	if err != nil {
		return err
	}
	before := s.Reach()
	after := before
	other := func(agent string) bool { return !slices.Contains(named, agent) && len(s.Status(agent).Binaries) > 0 }
	if before == config.ReachAll && a.configFile == "" && !slices.ContainsFunc(agentsetup.Agents(), other) {
		if err := a.putReach(p, config.ReachProject); err != nil { // what agents have goes all the same
			a.say("agents.reach is unchanged: %v", err)
		} else {
			after = config.ReachProject // else the next install would have it too
		}
	}
	if err := a.carryOut(p, f.dryRun, "nothing of ccd's is installed", named); err != nil || f.dryRun {
		return err
	}
	a.sayReach(before, after)
	return nil
}

// carryOut does what is planned, or shows it.
func (a *app) carryOut(p *agentsetup.Plan, dryRun bool, nothing string, which []string) error {
	if dryRun {
		return a.print(p.Diff())
	}
	done, err := p.Apply() // also of nothing: it clears up after one that was killed
	for _, line := range done {
		a.say("%s", line)
	}
	if err != nil {
		return err
	}
	if p.Empty() {
		if len(done) == 0 {
			a.say("%s (%s)", nothing, strings.Join(which, ", "))
		}
		return nil
	}
	for _, n := range p.Notes {
		a.say("%s", n)
	}
	return nil
}

func (a *app) agentsStatus(s *agentsetup.Setup, named []string) error {
	if named == nil {
		named = agentsetup.Agents()
	}
	all := []agentsetup.Status{}
	for _, agent := range named {
		all = append(all, s.Status(agent))
	}
	_, unread := a.config() // why the reach is unknown
	if a.json {
		return errors.Join(a.printJSON(all), unread)
	}
	var rows [][]string
	for _, st := range all {
		rows = append(rows, statusRows(st)...)
	}
	if err := a.table(rows); err != nil {
		return err
	}
	for _, st := range all {
		for _, n := range st.Notes {
			if len(st.Binaries) > 0 {
				a.say("%s", n)
			}
		}
	}
	return unread
}

var reachMeaning = map[string]string{
	config.ReachProject: "the sessions of its own project", config.ReachAll: "the sessions of all projects", "": "the configuration cannot be read",
}

// statusRows are an agent's lines: itself, its parts, the binaries that they name.
func statusRows(st agentsetup.Status) [][]string {
	word := "not installed"
	switch {
	case st.Installed:
		word = "installed"
	case len(st.Binaries) > 0:
		word = "partly installed: `ccd agents install " + strings.TrimSuffix(st.Agent, "-code") + "` mends it"
	case !st.Present:
		word = "not here"
	}
	rows := [][]string{{st.Agent, word, st.Directory}}
	for _, p := range st.Parts {
		state := p.State
		if p.Option && state == agentsetup.Missing {
			state = "off"
		}
		rows = append(rows, []string{"  " + p.Name, state, cmp.Or(p.Detail, p.File)})
	}
	rows = append(rows, []string{"  reach", cmp.Or(st.Reach, "unknown"), reachMeaning[st.Reach]})
	for _, b := range st.Binaries {
		word := "another ccd"
		switch {
		case !b.Exists:
			word = "gone"
		case b.This:
			word = "this ccd"
		}
		rows = append(rows, []string{"  binary", word, b.Path})
	}
	return rows
}

// checkAgents looks at the agents that are set up: does what their settings name still stand?
func checkAgents(_ context.Context, around *surroundings) (all []finding) {
	s, err := around.a.setup(nil, agentsFlags{})
	if err != nil {
		return nil // what is wrong with the home directory, others tell
	}
	for _, agent := range s.Present() {
		st := s.Status(agent)
		check, mend := "agent "+agent, "ccd agents install "+strings.TrimSuffix(agent, "-code")
		gone := slices.IndexFunc(st.Binaries, func(b agentsetup.Binary) bool { return !b.Exists })
		switch {
		case gone >= 0:
			all = append(all, wrong(check, mend, "its settings name %s, which is gone", st.Binaries[gone].Path))
		case st.Installed:
			all = append(all, ok(check, "calls %s", st.Binaries[0].Path))
		case len(st.Binaries) > 0:
			all = append(all, note(check, mend, "not all of it is installed, or not by this ccd: ccd agents status"))
		}
	}
	return all
}

// agentHere is one agent in the output of `ccd agents`.
type agentHere struct {
	Agent     string   `json:"agent"`
	Title     string   `json:"title"`
	Present   bool     `json:"present"`
	Roots     []string `json:"roots"`
	Followed  bool     `json:"followed"`
	Installed bool     `json:"installed"`
	How       string   `json:"how"`
}

// agentsHere lists every agent that ccd knows: is it on this machine, has it transcripts, is it connected to ccd?
func (a *app) agentsHere(s *agentsetup.Setup) error {
	home, err := a.home()
	if err != nil {
		return err
	}
	conf, unread := a.config()
	watched := a.roots(conf, home)
	list, rows := []agentHere{}, [][]string{{"AGENT", "HERE", "TRANSCRIPTS", "CONNECTED"}}
	for _, f := range registry.All() {
		one := agentHere{Agent: f.Agent, Title: f.Title, How: f.How}
		for _, r := range watched {
			if r.Agent == f.Agent {
				one.Roots = append(one.Roots, r.Path)
				one.Followed = one.Followed || exists(r.Path)
				one.Present = one.Present || exists(filepath.Dir(r.Path))
			}
		}
		here, followed, knows := "no", "-", "-"
		if one.Present {
			here, followed = "yes", "none yet"
		}
		if one.Followed {
			followed = "found"
		}
		if one.Present {
			if knows = "not checked: " + one.How; slices.Contains(agentsetup.Agents(), f.Agent) {
				one.Installed, knows = s.Status(f.Agent).Installed, "no: run ccd agents install "+strings.TrimSuffix(f.Agent, "-code")
				if one.Installed {
					knows = "yes"
				}
			}
		}
		list = append(list, one)
		rows = append(rows, []string{f.Title, here, followed, knows})
	}
	if a.json {
		return errors.Join(a.printJSON(list), unread)
	}
	return errors.Join(a.table(rows), unread)
}
