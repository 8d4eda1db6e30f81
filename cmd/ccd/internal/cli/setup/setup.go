package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ccd/cmd/ccd/internal/cli"
	"ccd/cmd/ccd/internal/disk"
	"ccd/cmd/ccd/internal/install"
	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/table"
	"ccd/internal/atomicfile"
	"ccd/internal/config"
	"ccd/internal/mark"
	"ccd/internal/words"
)

// setupFlags are those of `ccd setup`.
type setupFlags struct{ yes, dryRun, undo bool }

func (f setupFlags) command() string {
	return "ccd setup" + map[bool]string{true: " --undo"}[f.undo]
}

// verb names what failed, in errors.
func (f setupFlags) verb() string {
	if f.undo {
		return "undo setup"
	}
	return "set up ccd"
}

func (f setupFlags) unconfirmed() error {
	return fmt.Errorf("%s: not confirmed; nothing was changed", f.verb())
}

// setupOutput is what --json prints.
type setupOutput struct {
	Steps []*install.Step `json:"steps"`
}

func (a *app) setupCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "setup", GroupID: cli.Setup, Short: "set up everything: agents, archive, service",
		Long: `Finds the agents on this machine, shows what it will do, and asks. Then it
connects each agent to ccd, archives existing sessions, and installs the
service, which takes the place of a running ` + "`ccd run`" + `. Run it again to
complete a partial setup. Without a terminal it needs --yes; then agents keep
their own compaction, unless the configuration says live.compaction = true.

--undo removes the service, the companions and what was added to the agents'
settings. The archive and the configuration stay: ccd prints where they are.
Transcripts, copies by ccd resume and backups never change. A ` + "`ccd run`" + ` that
is not the service is stopped, too: it would write the companions again.

With --json: with --yes or --dry-run, one object: steps [{step (an agent,
agents, archive, service, run, companions, configuration), title, state (todo,
done, unchanged, unavailable, failed), what, does, error, hint, notes}]`,
		Example: `  ccd setup             show the plan, ask, do it
  ccd setup --dry-run   show the plan only
  ccd setup --yes       for scripts
  ccd setup --undo      undo the setup; keep the archive`,
	}
	var f setupFlags
	c.Args = cobra.NoArgs
	c.RunE = func(c *cobra.Command, _ []string) error {
		if a.JSON && !f.yes && !f.dryRun {
			return cli.Usage(c, errors.New("--json needs --yes or --dry-run"))
		}
		return a.setUp(c.Context(), f)
	}
	c.Flags().BoolVar(&f.yes, "yes", false, "do not ask")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "print what would be done and exit")
	c.Flags().BoolVar(&f.undo, "undo", false, "remove service, companions and the agents' connections")
	return c
}

func (a *app) setUp(ctx context.Context, f setupFlags) error {
	defer a.endInTime(ctx, false)()
	home, err := a.Home()
	if err != nil {
		return err
	}
	if err := install.CheckHome(home); err != nil {
		return err
	}
	steps, err := a.wantedSteps(ctx, f)
	if err != nil {
		return err
	}
	if steps, err = a.agreed(ctx, f, steps, a.setupText(steps, f, home, !f.undo || f.dryRun || a.Verbose)); err != nil {
		return err
	}
	switch {
	case f.dryRun && a.JSON:
		err = a.PrintJSON(setupOutput{steps})
	case !f.dryRun:
		if err = a.doSteps(ctx, steps, home); err == nil {
			err = a.setupEnd(ctx, f, steps)
		}
	}
	if err == nil && has(steps, install.Failed) {
		return cli.ErrSaid
	}
	return err
}

// wantedSteps plans what setup will do; with --yes, the agents' own compaction stays.
func (a *app) wantedSteps(ctx context.Context, f setupFlags) ([]*install.Step, error) {
	steps, err := a.setupSteps(ctx, f)
	if err == nil && f.yes && a.compactsAnew(steps) {
		return a.keepCompactions(ctx, f)
	}
	return steps, err
}

// doSteps does the steps and says what each did, then what the user should know.
func (a *app) doSteps(ctx context.Context, steps []*install.Step, home string) error {
	for _, s := range steps {
		switch s.Do(ctx); {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case s.State == install.Done:
			a.Say("done: %s: %s", s.Title, s.What)
		case s.State == install.Failed:
			text := fmt.Sprintf("failed: %s: %s\n", s.Title, shortened(s.Error, home))
			if s.Hint != "" {
				text += "hint: " + s.Hint + "\n"
			}
			fmt.Fprint(a.Err, mark.Visible(text))
		}
	}
	for _, s := range steps {
		for _, n := range s.Notes {
			if !strings.HasPrefix(n, s.Title) {
				n = s.Title + ": " + n
			}
			a.Say("note: %s", n)
		}
	}
	return nil
}

func has(steps []*install.Step, state string) bool {
	return slices.ContainsFunc(steps, func(s *install.Step) bool { return s.State == state })
}

// setupSteps plans what setup, or undo, will do. Undo needs no valid configuration. The agents are connected as if the environment had
// some more variables; the service must not get them.
func (a *app) setupSteps(ctx context.Context, f setupFlags, more ...string) ([]*install.Step, error) {
	connects := *a.App
	connects.Vars = append(slices.Clip(a.Vars), more...)
	agents, err := connects.AgentSetup(nil)
	if err != nil {
		return nil, err
	}
	place, err := a.Place(true)
	if err != nil && f.undo {
		place, err = a.State()
	}
	if err != nil {
		return nil, err
	}
	l, err := reader.Open(place, false)
	if err != nil {
		return nil, err
	}
	account := install.Account{Library: l, Agents: agents, Plan: a.toArchive, Archive: a.archiveAll, Say: a.Say, Out: io.Discard}
	if f.undo {
		return account.Undo(ctx)
	}
	if a.Verbose {
		account.Out = a.Err
	}
	return account.Setup(ctx)
}

// agreed shows the plan, asks, and returns the steps to do. It fails if the answer is no, or if nobody can answer.
func (a *app) agreed(ctx context.Context, f setupFlags, steps []*install.Step, plan string) ([]*install.Step, error) {
	todo := has(steps, install.Todo)
	switch {
	case a.JSON:
		return steps, nil
	case f.dryRun, todo && !f.yes && !a.Answers():
		if err := a.Print(plan); err != nil || f.dryRun {
			return steps, err
		}
		return nil, words.Hint(words.Usage(fmt.Errorf("%s: no terminal to confirm on; nothing was changed", f.verb())), "%s --yes", f.command())
	case !a.Quiet || todo && !f.yes:
		fmt.Fprint(a.Err, mark.Visible(plan))
	}
	if !todo || f.yes {
		return steps, nil
	}
	if a.compactsAnew(steps) {
		return a.whoCompacts(ctx, f, steps)
	}
	yes, err := a.Yes(ctx, "Continue?", true)
	if err == nil && !yes {
		err = f.unconfirmed()
	}
	return steps, err
}

// whoCompacts asks until it has an answer, as no choice is the usual one, and returns the steps to do.
func (a *app) whoCompacts(ctx context.Context, f setupFlags, steps []*install.Step) ([]*install.Step, error) {
	a.Say("Continue, and who compacts?\n" +
		"  k  keep the agents' own compaction and whole outputs; ccd only adds what a summary lacks\n" +
		"  y  let ccd compact and shorten outputs, as above\n" +
		"  n  change nothing")
	for {
		switch given, err := a.Ask(ctx, "[k/y/n] ", " "); {
		case err != nil:
			return nil, err
		case given == "y":
			return steps, nil
		case given == "k":
			return a.keepCompactions(ctx, f)
		case given == "n", given == "":
			return nil, f.unconfirmed()
		}
	}
}

// compactsAnew reports whether a step lets ccd compact for an agent, and nobody has said who does.
func (a *app) compactsAnew(steps []*install.Step) bool {
	conf, err := a.Config()
	return err == nil && conf.Source(whoKey) == "default" && slices.ContainsFunc(steps, func(s *install.Step) bool { return s.Compacts })
}

// whoKey says who compacts.
const whoKey = "live.compaction"

// keepCompactions writes into the configuration that agents compact themselves and see whole outputs, and plans again; with --dry-run it
// plans as if it had.
func (a *app) keepCompactions(ctx context.Context, f setupFlags) ([]*install.Step, error) {
	conf, err := a.Config()
	if err != nil {
		return nil, err
	}
	file, err := a.UsualConfig()
	if err != nil {
		return nil, err
	}
	file = a.Path(cmp.Or(a.ConfigFile, file))
	had, err := os.ReadFile(file)
	text, written, vars := string(had), []string{}, []string{}
	for _, set := range [][2]string{{"compaction.large_output_tokens", "0"}, {whoKey, "false"}} {
		if conf.Source(set[0]) == "default" {
			text = withKey(text, set[0], set[1])
			written = append(written, "write "+file+": "+set[0]+" = "+set[1])
			vars = append(vars, config.Variable(set[0])+"="+set[1])
		}
	}
	if f.dryRun {
		steps, err := a.setupSteps(ctx, f, vars...)
		kept := &install.Step{Step: "configuration", Title: "configuration", State: install.Todo, What: "keep the agents' own compaction", Does: written, Notes: []string{}}
		return append(steps, kept), err
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = os.MkdirAll(filepath.Dir(file), 0o700)
	}
	if err == nil {
		err = atomicfile.Write(file, 0o600, []byte(text))
	}
	if err == nil {
		if _, err = a.Config(); err != nil { // its tables have another form
			err = errors.Join(err, atomicfile.Write(file, 0o600, had))
		}
	}
	if err != nil {
		return nil, words.Hint(fmt.Errorf("write configuration: %w", err), "set %s in %s", whoKey, words.Shell(file))
	}
	a.Say("done: configuration: %s keeps the agents' own compaction; ccd compacts with %s = true there, then ccd agents install", words.Shell(file), whoKey)
	return a.setupSteps(ctx, f)
}

// withKey returns the text of a configuration with one more key: in its table, if that begins with a line of its own, else before all.
func withKey(text, key, value string) string {
	table, name, _ := strings.Cut(key, ".")
	if at := regexp.MustCompile(`(?m)^[ \t]*\[` + table + `\][ \t]*(#.*)?$`).FindStringIndex(text); at != nil {
		return text[:at[1]] + "\n" + name + " = " + value + text[at[1]:]
	}
	return key + " = " + value + "\n" + text
}

// shortened is text with ~ for the home directory.
func shortened(text, home string) string {
	return strings.ReplaceAll(text, home+string(os.PathSeparator), "~"+string(os.PathSeparator))
}

// setupText shows the steps before they are done, with each file or without.
func (a *app) setupText(steps []*install.Step, f setupFlags, home string, files bool) string {
	width := helpColumns
	if columns := a.Width(); columns > 0 {
		width = min(width, columns)
	}
	asks := !f.undo && a.compactsAnew(steps)
	then, back := " will:", a.afterPlan(asks, f, home, files)
	if !has(steps, install.Todo) {
		then, back = " has nothing to do:", ""
	}
	var rows [][]string
	for _, s := range steps {
		lines := []string{s.What}
		switch {
		case s.State == install.Failed:
			lines[0] = "failed: " + s.Error
		case s.State == install.Todo && files:
			lines = append(lines, s.Does...)
			for i := len(lines) - s.Mod; asks && i < len(lines); i++ {
				lines[i] = "if you answer y: " + lines[i]
			}
		}
		if s.Hint != "" {
			lines = append(lines, strings.Split("hint: "+strings.ReplaceAll(s.Hint, "; or ", "\nor: "), "\n")...)
		}
		title := s.Title
		for _, line := range lines {
			rows = append(rows, []string{title, mark.Inline(shortened(line, home), 0)})
			title = ""
		}
	}
	if !f.undo && steps[0].Step == "archive" {
		back = "No agents were found; after you install one, run `ccd setup` again.\n" + back
	}
	lines := []string{f.command() + then}
	for _, line := range table.Facts(rows, width-2, false) {
		lines = append(lines, "  "+line)
	}
	return strings.Join(append(lines, table.WrapLines(back, width)...), "\n") + "\n"
}

// afterPlan says what a plan leaves as it is, and what else there is to choose; asks: setup asks who compacts.
func (a *app) afterPlan(asks bool, f setupFlags, home string, files bool) string {
	switch {
	case f.undo && !files:
		return "The archive and the configuration stay. `ccd setup --undo --dry-run` lists the files.\n"
	case f.undo:
		return "The archive and the configuration stay.\n"
	}
	file, _ := a.UsualConfig() // without a home there is no plan
	text := "Transcripts are never changed. `ccd setup --undo` undoes the setup.\n" +
		"Options: " + shortened(a.Path(cmp.Or(a.ConfigFile, file)), home) + ". One agent only: `ccd agents install AGENT`.\n"
	if asks {
		text += "Setup asks first who compacts: the agents as before (k), or ccd (y).\n--yes takes the agents; for ccd, first set " + whoKey + " = true.\n"
	}
	return text
}

// setupEnd says what to do next, or after undo what is left.
func (a *app) setupEnd(ctx context.Context, f setupFlags, steps []*install.Step) error {
	if a.JSON {
		return a.PrintJSON(setupOutput{steps})
	}
	l, err := a.Locate(true)
	switch {
	case f.undo && err == nil: // undo does not need the configuration
		a.sayKept(l)
		fallthrough
	case f.undo || a.Quiet:
		return nil
	case err != nil:
		return err
	}
	text := "\nNext:\n"
	if slices.ContainsFunc(steps, func(s *install.Step) bool {
		return s.Step == "service" && (s.State == install.Unavailable || s.State == install.Failed)
	}) {
		text = "\nNew sessions are not archived until `ccd run` runs. Next:\n  ccd run                  archive new sessions, until you press Ctrl-C\n"
	}
	text += `  ccd ls                   list your sessions
  ccd search WORDS         search all of them
  ccd demo                 see what ccd does with a session
  ccd help remote          keep an encrypted copy in object storage
`
	if err := a.PrintWrapped(text); err != nil {
		return err
	}
	a.sayOwn(ctx)
	return nil
}

// sayKept says where the archive and the configuration are, and how to remove them.
func (a *app) sayKept(l *reader.Library) {
	var left []string
	file, err := a.UsualConfig()
	for _, path := range []string{l.StateDir, l.ArchivePath, a.Path(cmp.Or(a.ConfigFile, file))} {
		if err == nil && disk.Exists(path) && (path == l.StateDir || !disk.Within(path, l.StateDir)) {
			left = append(left, words.Shell(path))
		}
	}
	if len(left) > 0 {
		a.Say("kept: the archive and the configuration; to remove them for good: rm -r %s", strings.Join(left, " "))
	}
}

// helpColumns is the most that a line of setup has.
const helpColumns = 80
