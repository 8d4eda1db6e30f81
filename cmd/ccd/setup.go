package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ccd/cmd/ccd/internal/account"
	"ccd/cmd/ccd/internal/disk"
	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/removal"
	agentsetup "ccd/cmd/ccd/internal/setup"
	"ccd/cmd/ccd/internal/words"
	"ccd/daemon"
	"ccd/internal/mark"
	"ccd/internal/transcript"
	"ccd/packaging"
)

// setupFlags are those of `ccd setup`.
type setupFlags struct{ yes, dryRun, undo bool }

// What a setupStep can be.
const (
	stepTodo        = "todo"
	stepDone        = "done"
	stepUnchanged   = "unchanged"
	stepUnavailable = "unavailable" // it cannot be done here, and that is no failure
	stepFailed      = "failed"
)

// setupStep is one thing that setup does.
type setupStep struct {
	Step  string   `json:"step"` // an agent, "archive", "service", "companions" or "configuration"
	Title string   `json:"title"`
	State string   `json:"state"`
	What  string   `json:"what"`
	Does  []string `json:"does"` // what is written, removed and run
	Error string   `json:"error"`
	Hint  string   `json:"hint"`
	Notes []string `json:"notes"`

	do func(context.Context, *setupStep) error
}

// setupOutput is what --json prints.
type setupOutput struct {
	Steps   []*setupStep  `json:"steps"`
	Archive *setupArchive `json:"archive"` // null unless something was done
}

// setupArchive is what can be restored.
type setupArchive struct {
	Path       string `json:"path"`
	Bytes      int64  `json:"bytes"`
	Raw        int64  `json:"raw_bytes"`
	Sessions   int    `json:"sessions"`
	Originals  int    `json:"originals"`
	Companions int    `json:"companions"`
}

func (a *app) setupCommand() *cobra.Command {
	p := page{
		use: "setup", group: setup, short: "set up everything: agents, archive, service",
		forms: []string{"ccd setup [--yes] [--dry-run]", "ccd setup --undo [--yes] [--dry-run]"},
		long: `Finds the agents on this machine, shows what it will do, and asks. Then it
connects each agent to ccd, archives the sessions there are, and installs the
service. Run it again to do what is missing. Without a terminal it needs --yes.

--undo removes the service, the companions and what was added to the agents'
settings. The archive and the configuration stay. Transcripts never change.`,
		more: `It does what ` + "`ccd agents install`, `ccd run --once` and `ccd install`" + ` do. If one
step fails, the others are done, and the exit status is 1. Without systemd or
launchd it says how to start ccd instead, and does the rest. After --undo,
` + "`ccd uninstall --purge`" + ` removes what is left.`,
		examples: []example{
			{"ccd setup", "show the plan, ask, do it"},
			{"ccd setup --dry-run", "show the plan only"},
			{"ccd setup --yes", "for scripts"},
			{"ccd setup --undo", "remove all of it; keep the archive"},
		},
		json: `with --yes or --dry-run, one object: steps [{step (an agent, archive, service, companions, configuration), title, state (todo, done,
unchanged, unavailable, failed), what, does, error, hint, notes}], archive (what can be restored: path,
bytes, raw_bytes, sessions, originals, companions; null with --dry-run and --undo)`,
	}
	var f setupFlags
	c := p.command(cobra.NoArgs, func(c *cobra.Command, _ []string) error {
		switch {
		case f.yes && f.dryRun:
			return usage(c, errors.New("--yes and --dry-run exclude each other"))
		case a.json && !f.yes && !f.dryRun:
			return usage(c, errors.New("--json goes with --yes or --dry-run"))
		}
		return a.setUp(c.Context(), f)
	})
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
	if info, err := os.Stat(home); err == nil && disk.Foreign(info) {
		return words.Hint(fmt.Errorf("set up ccd: the home directory %s belongs to another user", home), "run it as that user, without sudo")
	}
	plan := a.setupSteps
	if f.undo {
		plan = a.undoSteps
	}
	steps, err := plan(ctx)
	if err != nil {
		return err
	}
	todo := slices.ContainsFunc(steps, func(s *setupStep) bool { return s.State == stepTodo })
	if err := a.agreed(ctx, f, todo, setupText(steps, f, home)); err != nil {
		return err
	}
	if f.dryRun {
		if a.json {
			return a.printJSON(setupOutput{Steps: steps})
		}
		return nil
	}
	for _, s := range steps {
		a.carry(ctx, s, home)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	for _, s := range steps {
		for _, n := range s.Notes {
			a.say("%s", strings.TrimSuffix(hanging("note: ", s.Title+": "+n, "      "), "\n"))
		}
	}
	if err := a.setupEnd(ctx, f, steps); err != nil {
		return err
	}
	if slices.ContainsFunc(steps, func(s *setupStep) bool { return s.State == stepFailed }) {
		return errSaid
	}
	return nil
}

// agreed shows the plan and asks whether it is to be done. It fails if the answer is no, or if nobody can answer.
func (a *app) agreed(ctx context.Context, f setupFlags, todo bool, plan string) error {
	switch {
	case a.json:
		return nil
	case f.dryRun, todo && !f.yes && !a.answers():
		if err := a.print(plan); err != nil || f.dryRun {
			return err
		}
		again := "ccd setup --yes"
		if f.undo {
			again = "ccd setup --undo --yes"
		}
		return words.Hint(words.Usage(errors.New("set up ccd: no terminal to ask on; nothing was changed")), "%s", again)
	case !a.quiet || todo && !f.yes:
		fmt.Fprint(a.err, mark.Visible(plan))
	}
	if !todo || f.yes {
		return nil
	}
	fmt.Fprint(a.err, "Continue? [Y/n] ")
	text, err := readLine(ctx, bufio.NewReader(a.in))
	if text == "" {
		fmt.Fprintln(a.err) // behind the question
	}
	if err != nil {
		return err
	}
	if given := strings.ToLower(strings.TrimSpace(text)); text == "" || given != "" && given != "y" && given != "yes" {
		return errors.New("set up ccd: the answer was not yes; nothing was changed")
	}
	return nil
}

// carry does one step and says what came of it.
func (a *app) carry(ctx context.Context, s *setupStep, home string) {
	if s.State == stepTodo {
		s.State = stepDone
		s.fail(s.do(ctx, s))
	}
	switch {
	case ctx.Err() != nil:
	case s.State == stepDone:
		a.say("done: %s: %s", s.Title, s.What)
	case s.State == stepFailed:
		fmt.Fprint(a.err, mark.Visible(fmt.Sprintf("failed: %s: %s\n", s.Title, shortened(s.Error, home))))
		if s.Hint != "" {
			fmt.Fprint(a.err, mark.Visible(fmt.Sprintf("hint: %s\n", s.Hint)))
		}
	}
}

// fail notes why a step cannot be done.
func (s *setupStep) fail(err error) {
	if err != nil {
		s.State = stepFailed
		s.because(err)
	}
}

func (s *setupStep) because(err error) {
	var next interface{ Hint() string }
	s.Error = reader.Locked(err).Error()
	if errors.As(err, &next) {
		s.Hint = next.Hint()
	}
}

func (a *app) setupSteps(ctx context.Context) ([]*setupStep, error) {
	d, l, err := a.daemonFor(ctx, true)
	if err != nil {
		return nil, err
	}
	s, err := a.setup(nil, agentsFlags{})
	if err != nil {
		return nil, err
	}
	if err := s.Usable(); err != nil {
		return nil, err
	}
	plan, err := d.Plan(ctx)
	if err != nil {
		return nil, err
	}
	steps := a.agentSteps(s, plan)
	return append(steps, a.archiveStep(l, plan), a.serviceStep(ctx, l)), nil
}

// agentSteps are the agents that are here: their directory, their transcripts or their program.
func (a *app) agentSteps(s *agentsetup.Setup, plan daemon.Plan) (steps []*setupStep) {
	for _, f := range a.Agents().All() {
		here := slices.ContainsFunc(plan.Roots, func(r daemon.RootPlan) bool { return r.Agent == f.Agent && r.Files > 0 })
		if f.Connect != nil {
			here = here || slices.Contains(s.Present(), f.Agent) || len(f.Resume) > 0 && a.program(f.Resume[0]) != nil
		}
		if !here {
			continue
		}
		step := newStep(f.Agent, f.Title)
		if f.Connect == nil {
			step.State, step.What, step.Hint = stepUnavailable, "archived; ccd cannot edit its settings", f.How
		} else {
			a.planAgent(s, step)
		}
		steps = append(steps, step)
	}
	return steps
}

func newStep(step, title string) *setupStep {
	return &setupStep{Step: step, Title: title, State: stepTodo, Does: []string{}, Notes: []string{}}
}

// partNames are the parts of a connection for people.
var partNames = map[string]string{"mcp": "MCP server"}

func (a *app) planAgent(s *agentsetup.Setup, step *setupStep) {
	p, err := s.Install(step.Step)
	if err != nil {
		step.fail(err)
		return
	}
	var parts []string
	for _, part := range s.Status(step.Step).Parts {
		if name := part.Name; !part.Option && part.State != agentsetup.Installed {
			if partNames[name] != "" {
				name = partNames[name]
			}
			parts = append(parts, name)
		}
	}
	step.What, step.Does = "connect: "+strings.Join(parts, ", "), append(step.Does, p.Steps()...)
	if p.Empty() {
		step.State, step.What = stepUnchanged, "already connected"
		if len(p.Notes) > 0 { // what only the user can do
			step.What, step.Notes = "already connected, but see the note", append(step.Notes, p.Notes...)
		}
		return
	}
	step.do = func(context.Context, *setupStep) error {
		_, err := p.Apply()
		step.What = "connected"
		step.Notes = append(step.Notes, p.Notes...)
		if _, rules := s.Has(step.Step); err == nil && rules {
			if missing, err := s.Rules(); err == nil && len(missing) > 0 {
				step.Notes = append(step.Notes, "it asks before each `ccd agent` command; to allow them: ccd agents install "+agentsetup.Name(step.Step)+" --allow")
			}
		}
		return err
	}
}

func (a *app) archiveStep(l *reader.Library, plan daemon.Plan) *setupStep {
	step := newStep("archive", "archive")
	switch {
	case plan.Files == 0 && plan.Known == 0:
		step.State, step.What = stepUnchanged, "no sessions yet"
		return step
	case plan.New == 0:
		step.State, step.What = stepUnchanged, "up to date, "+words.Count(plan.Known, "session")
		return step
	}
	where := plan.Companion
	if l.Config.Companion.Dir != "" {
		where = "in " + where
	}
	size := fmt.Sprintf("%s, about %s on disk", humanize.IBytes(uint64(plan.New)), humanize.IBytes(uint64(plan.Archive)))
	step.What = "store what is new: " + size
	if plan.Known == 0 {
		step.What = "store " + words.Count(plan.Sessions, "session") + ": " + size
	}
	if _, running, _ := daemon.ReadRun(l.StateDir); running {
		step.What = "wait until the running daemon has stored what is new: " + size
	}
	step.Does = append(step.Does, "write "+l.ArchivePath, "write companions (*.ccd.md) "+where)
	step.do = func(ctx context.Context, step *setupStep) error {
		d, l, err := a.daemonFor(ctx, false)
		if err != nil {
			return err
		}
		if _, running, _ := daemon.ReadRun(l.StateDir); running {
			step.What = "stored by the running daemon"
			return a.awaitDaemon(ctx)
		}
		report, err := a.pass(ctx, d)
		if err != nil {
			return err
		}
		step.What = strings.TrimPrefix(onceLine(report), "up to date: ")
		for _, f := range report.Failed {
			fmt.Fprintf(a.err, "failed: %s\n", f)
		}
		if n := len(report.Failed); n > 0 {
			return words.Hint(fmt.Errorf("%s could not be archived", words.Count(n, "file")), "ccd run --once")
		}
		return nil
	}
	return step
}

const (
	daemonBeat     = time.Second     // between two looks at a running daemon
	daemonPatience = 2 * time.Minute // without any progress
)

// awaitDaemon waits until the running daemon has archived what there is.
func (a *app) awaitDaemon(ctx context.Context) error {
	show, wipe := a.progress("archiving, by the running daemon:")
	defer wipe()
	begun, least, since := time.Now(), int64(-1), time.Now()
	var most int64
	for tick := time.NewTicker(daemonBeat); ; {
		d, l, err := a.daemonFor(ctx, true)
		if err != nil {
			return err
		}
		plan, err := d.Plan(ctx)
		if err != nil {
			return err
		}
		info, running, err := daemon.ReadRun(l.StateDir)
		scanned := info.LastPass.After(begun) && info.Watch.Waiting == 0 // a live session is never archived to its last byte
		switch {
		case err != nil:
			return err
		case plan.New == 0 || scanned:
			return nil
		case !running:
			return words.Hint(errors.New("the daemon has ended"), "ccd setup")
		case least < 0 || plan.New < least:
			least, since = plan.New, time.Now()
		case time.Since(since) > daemonPatience:
			return words.Hint(fmt.Errorf("the daemon has archived nothing for %s", daemonPatience), "ccd status")
		}
		most = max(most, plan.New)
		show(most-plan.New, most)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (a *app) serviceStep(ctx context.Context, l *reader.Library) *setupStep {
	step := newStep("service", "service")
	if other, err := l.Place.Installed(nil); err == nil && other.System() {
		step.State, step.What = stepUnchanged, "the machine's service runs as you"
		return step
	}
	said := &bytes.Buffer{}
	s, err := l.Place.Service(packaging.Options{Out: said})
	if err != nil {
		step.fail(err)
		return step
	}
	if err := s.CheckInstall(ctx); err != nil {
		a.noService(step, l, err)
		return step
	}
	current, err := s.Current(ctx)
	if err != nil {
		step.fail(err)
		return step
	}
	if current {
		step.State, step.What = stepUnchanged, "already installed and running"
		return step
	}
	step.What = "start `ccd run` at login (" + s.Manager() + ")"
	drift, err := s.Drift()
	step.fail(err)
	for _, path := range drift {
		step.Does = append(step.Does, "write "+path)
	}
	step.do = func(ctx context.Context, step *setupStep) error {
		err := a.installService(ctx, l, s, serviceFlags{})
		if a.verbose {
			fmt.Fprint(a.err, said.String())
		}
		if err != nil {
			return err
		}
		step.What = "installed and running"
		if st, err := s.Status(ctx); err == nil && st.EndsAtLogout {
			step.Notes = append(step.Notes, "it ends with your last session and starts with the next; `ccd install --linger` keeps it running")
		}
		return nil
	}
	return step
}

// noService says why there can be no service here, and what to do instead.
func (a *app) noService(step *setupStep, l *reader.Library, err error) {
	if info, running, _ := daemon.ReadRun(l.StateDir); running {
		step.State, step.What = stepUnchanged, fmt.Sprintf("`ccd run` is running, pid %d; a service is not available here", info.Pid)
		return
	}
	step.because(err)
	step.State, step.What = stepUnavailable, "not available here: "+step.Error
	instead := "start `ccd run` at login (in a container: beside its main program)"
	switch {
	case a.Getenv("WSL_DISTRO_NAME") != "":
		instead += "; or set systemd=true below [boot] in /etc/wsl.conf, restart WSL, and run ccd setup again"
	case !errors.Is(err, exec.ErrNotFound) && step.Hint != "":
		instead += "; or " + step.Hint
	}
	step.Hint = instead
}

func (a *app) undoSteps(ctx context.Context) ([]*setupStep, error) {
	i, err := a.installation(uninstallFlags{})
	if err != nil {
		return nil, err
	}
	s, err := a.setup(nil, agentsFlags{})
	if err != nil {
		return nil, err
	}
	steps := []*setupStep{a.undoService(ctx, i.Place, i.Service), a.undoCompanions(ctx, i)}
	for _, id := range agentsetup.Agents() {
		f, _ := a.Agents().Lookup(id)
		step := newStep(id, f.Title)
		p, err := s.Uninstall(id)
		step.What = "disconnect"
		if step.fail(err); err == nil {
			step.Does = append(step.Does, p.Steps()...)
			step.Notes = append(step.Notes, p.Notes...)
		}
		if err == nil && p.Empty() {
			_, _ = p.Apply() // it clears up after one that was killed
			if len(p.Notes) == 0 {
				continue
			}
			step.State, step.What = stepUnchanged, "not connected"
		}
		step.do = func(context.Context, *setupStep) error {
			_, err := p.Apply()
			step.What = "disconnected"
			return err
		}
		steps = append(steps, step)
	}
	reach, p := newStep("configuration", "configuration"), &agentsetup.Plan{}
	_, err = a.resetReach(s, p, agentsetup.Agents())
	if reach.fail(err); err == nil && p.Empty() {
		return steps, nil
	}
	reach.What, reach.Does = "reset agents.reach", append(reach.Does, p.Steps()...)
	reach.do = func(context.Context, *setupStep) error {
		_, err := p.Apply()
		return err
	}
	return append(steps, reach), nil
}

// undoCompanions removes the companions, also those of sessions whose transcript is gone.
func (a *app) undoCompanions(ctx context.Context, p removal.Purge) *setupStep {
	step := newStep("companions", "companions")
	if _, err := a.Place(true); err != nil { // a configuration that cannot be read does not say where they are
		step.fail(err)
		return step
	}
	found, err := p.Companions(ctx)
	if step.fail(err); err != nil {
		return step
	}
	if found.Companions() == 0 && len(found.Problems()) == 0 {
		step.State, step.What = stepUnchanged, "none"
		return step
	}
	step.What = "remove " + words.Count(found.Companions(), "companion")
	p.Say = func(string, ...any) {} // the step says it
	step.do = func(ctx context.Context, step *setupStep) error {
		step.What = words.Count(found.Companions(), "companion") + " removed"
		return p.RemoveCompanions(ctx, found)
	}
	return step
}

func (a *app) undoService(ctx context.Context, place *account.Place, s *packaging.Service) *setupStep {
	step := newStep("service", "service")
	if other, err := place.Installed(nil); err == nil && other.System() {
		step.State, step.What, step.Hint = stepUnavailable, "it is the machine's", "sudo ccd uninstall --system"
		return step
	}
	st, err := s.Status(ctx)
	if err != nil {
		step.fail(err)
		return step
	}
	files := s.Files()
	if !st.Installed && len(files) == 0 {
		step.State, step.What = stepUnchanged, "not installed"
		return step
	}
	step.What = "stop it and remove it"
	for _, path := range files {
		step.Does = append(step.Does, "remove "+path)
	}
	step.do = func(ctx context.Context, step *setupStep) error {
		step.What = "stopped and removed"
		return s.Uninstall(ctx)
	}
	return step
}

// shortened is text with ~ for the home directory.
func shortened(text, home string) string {
	return strings.ReplaceAll(text, home+string(os.PathSeparator), "~"+string(os.PathSeparator))
}

// setupText shows the steps before they are done.
func setupText(steps []*setupStep, f setupFlags, home string) string {
	wide, todo := 0, false
	for _, s := range steps {
		wide, todo = max(wide, len(s.Title)), todo || s.State == stepTodo
	}
	var b strings.Builder
	row := func(title, text string) {
		head := fmt.Sprintf("  %-*s  ", wide, title)
		b.WriteString(hanging(head, mark.Inline(shortened(text, home), 0), strings.Repeat(" ", len(head)+2)))
	}
	command, then, back := "ccd setup", " will:\n", "Transcripts are never changed. `ccd setup --undo` undoes the rest.\n"
	if f.undo {
		command, back = "ccd setup --undo", "The archive and the configuration stay; `ccd uninstall --purge` removes them too.\n"
	}
	if !todo {
		then, back = " has nothing to do:\n", ""
	}
	b.WriteString(command + then)
	for _, s := range steps {
		if s.State == stepFailed {
			row(s.Title, "failed: "+s.Error)
		} else {
			row(s.Title, s.What)
		}
		if s.State == stepTodo {
			for _, line := range byVerb(s.Does) {
				row("", line)
			}
		}
		for i, hint := range strings.Split(s.Hint, "; or ") {
			if head := []string{"hint: ", "or: "}[min(i, 1)]; hint != "" {
				row("", head+hint)
			}
		}
	}
	if !f.undo && len(steps) == 2 {
		b.WriteString("No agents were found; after you install one, run `ccd setup` again.\n")
	}
	return b.String() + back
}

// byVerb joins the lines that begin with the same word.
func byVerb(does []string) (lines []string) {
	at := map[string]int{}
	for _, line := range does {
		verb, what, _ := strings.Cut(line, " ")
		if i, ok := at[verb]; ok && verb != "run" {
			lines[i] += ", " + what
			continue
		}
		at[verb] = len(lines)
		lines = append(lines, line)
	}
	return lines
}

// setupEnd says what can be restored now, or what is left, and what to do next.
func (a *app) setupEnd(ctx context.Context, f setupFlags, steps []*setupStep) error {
	out := setupOutput{Steps: steps}
	l, err := a.locate(true)
	if err == nil && !f.undo {
		out.Archive, err = restorable(ctx, l)
	}
	switch {
	case f.undo && a.json:
		return a.printJSON(out)
	case f.undo:
		if err == nil { // a broken configuration does not say where the archive is
			a.say("the archive stays in %s, and the configuration stays (ccd uninstall --purge removes them)", l.ArchivePath)
		}
		return nil
	case err != nil:
		return err
	case a.json:
		return a.printJSON(out)
	case a.quiet:
		return nil
	}
	r := out.Archive
	text := "\nNo sessions are archived yet. Next:\n  ccd demo                 see what ccd does with a session\n  ccd status               show what is watched\n"
	if r.Sessions > 0 {
		with := "Companions are written when a session grows long."
		if r.Companions > 0 {
			with = fmt.Sprintf("%s, %s with an ID.", words.Count(r.Companions, "companion"), words.Count(r.Originals, "original"))
		}
		text = fmt.Sprintf("\nYou can now restore %s: %s in an archive of %s. %s\nNext:\n"+
			"  ccd ls                   list your sessions\n  ccd search WORDS         search all of them\n",
			words.Count(r.Sessions, "session"), humanize.IBytes(uint64(r.Raw)), humanize.IBytes(uint64(r.Bytes)), with)
	}
	return a.print(text)
}

// restorable measures what the archive holds.
func restorable(ctx context.Context, l *reader.Library) (*setupArchive, error) {
	r := &setupArchive{Path: l.ArchivePath}
	if err := l.Load(ctx); err != nil {
		return r, err
	}
	for _, e := range l.Sessions {
		if e.Class == transcript.Attachment {
			continue
		}
		r.Sessions++
		if e.HasCompanion() {
			r.Companions++
		}
	}
	size, err := l.Archive.Size(ctx)
	if err != nil {
		return r, err
	}
	r.Bytes, r.Raw = size.File, size.Raw
	r.Originals, err = l.Archive.Originals(ctx)
	return r, err
}
