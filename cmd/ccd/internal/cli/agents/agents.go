package agents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ccd/cmd/ccd/internal/account"
	"ccd/cmd/ccd/internal/cli"
	"ccd/cmd/ccd/internal/disk"
	"ccd/cmd/ccd/internal/hook"
	"ccd/cmd/ccd/internal/install"
	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/table"
	"ccd/internal/config"
	"ccd/internal/mark"
	"ccd/internal/transcript"
	"ccd/internal/words"
	"ccd/watcher"
)

type agentsFlags struct{ line, dryRun bool }

func (a *app) agentsCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "agents [install|uninstall|status]", GroupID: cli.Agents, Short: "list agents; connect them to ccd",
		Long: `Without an argument it lists the agents that ccd knows: which are on this
machine, have transcripts, and are connected to ccd. install merges hooks, the
MCP server and a skill or an instruction block into the agent's own settings,
and keeps each file as FILE.ccd-backup. Claude Code, Pi and OpenCode also get a
mod: ccd then answers their compactions. Run it again to repair. uninstall
removes what ccd added. Without a name: every agent here.

Agents can read the sessions of their own project; with agents.reach = "all" in
the configuration, those of all projects.

status says the same as no argument, or with a name what that agent has.

With --json: one array, an object per agent: agent, title, present (on this
machine), roots, followed, installed, how (to connect it to ccd), directory,
compaction (who writes the new context: ccd, agent), delivers (the parts by
which the agent gets what ccd has), reach (project, all), parts (each name,
file, state (installed, other, missing, unreadable), option, detail), binaries
(path, exists, this), notes, version (that wrote its newest session; "" if it
does not say), last (as far as hook.log goes back: compacted, by (ccd, agent),
why (not ccd), told (when it last got a text))`,
		Example: `  ccd agents
      which agents were found, and how to connect them
  ccd agents install --dry-run
      show the changes as a diff
  ccd agents install claude --statusline
      Claude Code, with the status line
  ccd agents uninstall
      disconnect all agents`,
	}
	var f agentsFlags
	c.Args = cobra.MaximumNArgs(2)
	c.RunE = func(c *cobra.Command, args []string) error { return a.agents(c, args, f) }
	c.ValidArgs = []string{"install", "uninstall", "status"}
	c.Flags().BoolVar(&f.line, "statusline", false, "set the status line if there is none (Claude Code)")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "print the changes as a diff; write nothing")
	return c
}

func (a *app) agents(c *cobra.Command, args []string, f agentsFlags) error {
	var line *bool
	if c.Flags().Changed("statusline") {
		line = &f.line
	}
	s, err := a.AgentSetup(line)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		args = []string{"status"}
	}
	named, err := a.agentsNamed(c, args[1:])
	if err != nil {
		return err
	}
	if args[0] != "status" {
		if err := a.NoJSON(c); err != nil {
			return err
		}
	}
	switch args[0] {
	case "install":
		return a.agentsInstall(c, s, named, f)
	case "uninstall":
		return a.agentsUninstall(c, s, named, f)
	case "status":
		if f != (agentsFlags{}) {
			return cli.Usage(c, errors.New("only install and uninstall take these flags"))
		}
		return a.agentsStatus(c.Context(), s, named)
	}
	return cli.Usage(c, fmt.Errorf("expected install, uninstall or status, got %s", args[0]))
}

// agentsNamed returns the agents that an argument names, or nil for all on this machine.
func (a *app) agentsNamed(c *cobra.Command, args []string) ([]string, error) {
	arg := strings.Join(args, "")
	if arg == "" || arg == "all" {
		return nil, nil
	}
	if id, ok := install.Find(arg); ok {
		return []string{id}, nil
	}
	if f, ok := a.Agents().Lookup(arg); ok {
		how := cmp.Or(f.How, "add the MCP server `ccd mcp` to its settings")
		return nil, words.Hint(words.Usage(fmt.Errorf("connect %s: ccd cannot edit its settings, but archives its sessions", f.Title)), "%s", how)
	}
	return nil, cli.Usage(c, fmt.Errorf("expected %s or all, got %s", strings.Join(connectable(), ", "), arg))
}

// connectable returns the names that install takes.
func connectable() (names []string) {
	for _, id := range install.Agents() {
		names = append(names, install.Connection(id).Name)
	}
	return names
}

func (a *app) agentsInstall(c *cobra.Command, s *install.Setup, named []string, f agentsFlags) error {
	which := named
	if which == nil {
		which = s.Present()
	}
	if len(which) == 0 {
		return words.Hint(fmt.Errorf("find agents: none found (%s)", strings.Join(connectable(), ", ")), "ccd agents install claude")
	}
	if f.line && !slices.ContainsFunc(which, func(id string) bool { return install.Connection(id).Line }) {
		return cli.Usage(c, errors.New("--statusline works only with claude"))
	}
	p, failed := s.Plan(true, which...)
	if err := a.carryOut(p, f.dryRun, "already installed", which, failed); err != nil || f.dryRun {
		return err
	}
	if len(p.Agents) > 0 {
		a.Say("New sessions of %s use ccd.", strings.Join(p.Agents, ", "))
	}
	if conf, err := a.Config(); err == nil && conf.Agents.Reach == config.ReachAll {
		a.Say("agents can read the sessions of all projects (agents.reach = %q)", config.ReachAll)
	}
	return nil
}

func (a *app) agentsUninstall(c *cobra.Command, s *install.Setup, named []string, f agentsFlags) error {
	if f.line {
		return cli.Usage(c, errors.New("uninstall takes only --dry-run"))
	}
	if named == nil {
		named = install.Agents()
	}
	p, failed := s.Plan(false, named...)
	return a.carryOut(p, f.dryRun, "nothing to uninstall", named, failed)
}

// carryOut applies a plan, or prints it as a diff. failed is why some agents are not in it.
func (a *app) carryOut(p *install.Plan, dryRun bool, nothing string, which []string, failed error) error {
	if p == nil || failed != nil && p.Empty() {
		return failed
	}
	if !dryRun {
		if err := p.Apply(); err != nil { // also if the plan is empty: it cleans up after a killed run
			return err
		}
		for _, step := range p.Steps() {
			a.Say("done: %s", step)
		}
	}
	if p.Empty() {
		a.Say("%s (%s)", nothing, strings.Join(which, ", "))
	}
	if dryRun {
		return errors.Join(a.Print(p.Diff()), failed)
	}
	for _, n := range p.Notes {
		a.Say("%s", n)
	}
	return failed
}

// agentRow is an agent in the output of `ccd agents` and `ccd agents status`.
type agentRow struct {
	install.Status
	Title    string       `json:"title"`
	Roots    []string     `json:"roots"`
	Followed bool         `json:"followed"`
	How      string       `json:"how"`
	Version  string       `json:"version"`
	Last     hook.Outcome `json:"last"`
}

// rowOf says whether an agent is on this machine, has transcripts and is connected to ccd.
func rowOf(s *install.Setup, f transcript.Format, watched []watcher.Root) agentRow {
	r := agentRow{Status: install.NoStatus(f.Agent), Title: f.Title, How: f.How}
	if f.Connect != nil {
		r.Status, r.How = s.Status(f.Agent), "ccd agents install "+f.Connect.Name
	}
	for _, root := range watched {
		if root.Agent == f.Agent {
			r.Roots = append(r.Roots, root.Path)
			r.Followed = r.Followed || disk.Exists(root.Path)
			r.Present = r.Present || disk.Exists(filepath.Dir(root.Path))
		}
	}
	return r
}

// agentsStatus lists the agents that are named, all that ccd knows if none is.
func (a *app) agentsStatus(ctx context.Context, s *install.Setup, named []string) error {
	all, unread := a.agentsKnown(ctx, s)
	if named != nil {
		all = slices.DeleteFunc(all, func(r agentRow) bool { return !slices.Contains(named, r.Agent) })
	}
	if a.JSON {
		return errors.Join(a.PrintJSON(all), unread)
	}
	if err := a.printAgents(all, named != nil); err != nil {
		return err
	}
	for _, r := range all {
		for _, n := range r.Notes {
			if len(r.Binaries) > 0 {
				a.Say("%s", n)
			}
		}
	}
	if named == nil && slices.ContainsFunc(all, func(r agentRow) bool { return r.Present && len(r.Parts) > 0 && !r.Installed }) {
		a.Say("ccd setup connects all of them")
	}
	return unread
}

// agentsKnown returns all agents, and why what the archive knows of them could not be read.
func (a *app) agentsKnown(ctx context.Context, s *install.Setup) (all []agentRow, unread error) {
	l, unread := a.Library(ctx) // it also explains why the reach is unknown
	if l == nil {
		l = &reader.Library{Place: &account.Place{}}
	}
	conf, _ := a.Config()
	home, err := a.Home()
	outcomes, watched := hook.ReadLog(l.StateDir).Outcomes, a.Roots(conf, home)
	for _, f := range account.AgentsOf(conf).All() {
		r := rowOf(s, f, watched)
		r.Last = outcomes[f.Agent]
		if e := l.Newest(f.Agent); e != nil {
			r.Version = hook.VersionOf(l.Agents, e.Session.Session)
		}
		if r.Compacts == "ccd" && f.Connect.Mod != "" && older(r.Version, f.Connect.Asks) {
			r.Compacts = "agent"
			r.Notes = append(r.Notes, fmt.Sprintf("ccd compacts in %s from version %s on; the newest session is of %s", f.Title, f.Connect.Asks, mark.Inline(r.Version, 40)))
		}
		all = append(all, r)
	}
	return all, errors.Join(unread, err)
}

// older reports whether a version is known and before another.
func older(version, than string) bool {
	var a, b [3]int
	n, _ := fmt.Sscanf(version, "%d.%d.%d", &a[0], &a[1], &a[2])
	m, _ := fmt.Sscanf(than, "%d.%d.%d", &b[0], &b[1], &b[2])
	return n == 3 && m == 3 && slices.Compare(a[:], b[:]) < 0
}

// printAgents prints a line for each agent, or with parts the lines of each.
func (a *app) printAgents(all []agentRow, parts bool) error {
	if parts {
		var rows [][]string
		for _, r := range all {
			rows = append(rows, statusRows(r)...)
		}
		return a.PrintFacts(rows)
	}
	here := func(r agentRow, text string) string {
		if r.Present {
			return text
		}
		return ""
	}
	return cli.PrintTable(a.App, all, []table.Column[agentRow]{
		{Head: "AGENT", Text: func(r agentRow) string { return r.Title }},
		{Head: "TRANSCRIPTS", Drop: 4, Text: func(r agentRow) string {
			return here(r, map[bool]string{true: "found", false: "none yet"}[r.Followed])
		}},
		{Head: "VERSION", Drop: 3, Text: func(r agentRow) string { return mark.Inline(r.Version, 40) }},
		{Head: "COMPACTION", Drop: 5, Text: func(r agentRow) string { return here(r, strings.Replace(r.Compacts, "agent", "its own", 1)) }},
		{Head: "GETS", Drop: 1, Text: func(r agentRow) string { return strings.Join(r.Delivers, ", ") }},
		{Head: "LAST", Drop: 2, Least: 20, Text: func(r agentRow) string { return r.Last.String() }},
		{Head: "CONNECTED", Least: 34, Text: connected},
	})
}

var reachMeaning = map[string]string{
	config.ReachProject: "the sessions of its own project", config.ReachAll: "the sessions of all projects", "": "the configuration cannot be read",
}

// connected says whether an agent is connected.
func connected(r agentRow) string {
	switch {
	case r.Installed:
		return "yes"
	case len(r.Binaries) > 0:
		return "partly: run " + r.How
	case !r.Present:
		return "not found"
	case len(r.Parts) == 0:
		return "not checked: " + r.How
	}
	return "no: run " + r.How
}

// statusRows returns the lines of an agent: the agent, its parts and the binaries that they name.
func statusRows(st agentRow) [][]string {
	rows := [][]string{{st.Agent, connected(st), st.Directory}}
	for _, p := range st.Parts {
		state := p.State
		if p.Option && state == install.Missing {
			state = "off"
		}
		rows = append(rows, []string{"  " + p.Name, state, cmp.Or(p.Detail, p.File)})
	}
	rows = append(rows, []string{"  reach", cmp.Or(st.Reach, "unknown"), reachMeaning[st.Reach]})
	for _, b := range st.Binaries {
		word := "another ccd"
		switch {
		case !b.Exists:
			word = "missing"
		case b.This:
			word = "this ccd"
		}
		rows = append(rows, []string{"  binary", word, b.Path})
	}
	return rows
}
