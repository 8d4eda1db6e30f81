package install

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"ccd/cmd/ccd/internal/disk"
	"ccd/cmd/ccd/internal/reader"
	"ccd/daemon"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

// The states of a Step.
const (
	Todo        = "todo"
	Done        = "done"
	Unchanged   = "unchanged"
	Unavailable = "unavailable" // it cannot be done here, which is not a failure
	Failed      = "failed"
)

// Step is one thing that setup does: what it will do and, once it is done, what it did.
type Step struct {
	Step  string   `json:"step"`  // an agent, "agents", "archive", "service", "run", "companions" or "configuration"
	Title string   `json:"title"` // the same for people
	State string   `json:"state"`
	What  string   `json:"what"`  // what it will do, then what it did
	Does  []string `json:"does"`  // what is written, removed and run, and what ccd does from then on, a line each
	Mod   int      `json:"-"`     // how many of the last lines of Does tell what ccd does if it compacts
	Error string   `json:"error"` // why it failed or is unavailable
	Hint  string   `json:"hint"`  // what to try next; alternatives follow "; or "
	Notes []string `json:"notes"` // what the user should know afterwards, a sentence each

	Compacts bool `json:"-"` // it lets ccd compact for an agent

	do func(context.Context) (did string, err error)
}

func newStep(step, title string) *Step {
	return &Step{Step: step, Title: title, State: Todo, Does: []string{}, Notes: []string{}}
}

// Do does the step if it is in the state Todo. The step then has the result.
func (s *Step) Do(ctx context.Context) {
	if s.State == Todo {
		did, err := s.do(ctx)
		s.State, s.What = Done, cmp.Or(did, s.What)
		s.fail(err)
	}
}

// is sets what there is instead of something to do.
func (s *Step) is(state, what string) *Step {
	s.State, s.What = state, what
	return s
}

// does adds a line for each path.
func (s *Step) does(verb string, paths []string) {
	for _, path := range paths {
		s.Does = append(s.Does, verb+path)
	}
}

// fail notes why the step cannot be done; nil changes nothing.
func (s *Step) fail(err error) *Step {
	if err != nil {
		s.State = Failed
		s.because(err)
	}
	return s
}

func (s *Step) because(err error) {
	s.Error = reader.Locked(err).Error()
	if hint := words.HintOf(err); hint != "" {
		s.Hint = hint
	}
}

// Account is the account whose machine is to have what ccd puts there, or nothing of it, and what the command lends to the
// steps.
type Account struct {
	*reader.Library
	Agents *Setup
	// Plan returns what is not archived yet. Each call looks again.
	Plan func(context.Context) (daemon.Plan, error)
	// Archive archives all of it. It returns what it did, and how many files failed.
	Archive func(context.Context) (did string, failed int, err error)
	Say     func(format string, args ...any) // what else a step changes
	Out     io.Writer                        // what the service manager's commands do
}

// DemoHome begins the name of the home directory of `ccd demo`, in which nothing is set up.
const DemoHome = "ccd-demo-"

// CheckHome fails if the home directory belongs to another user, as with sudo: that user could not use the result.
func CheckHome(home string) error {
	if strings.HasPrefix(filepath.Base(home), DemoHome) {
		return words.Hint(errors.New("set up ccd: this shell has the home of ccd demo"), "try it in another shell")
	}
	if info, err := os.Stat(home); err == nil && disk.Owner(info) != "" {
		return words.Hint(fmt.Errorf("set up ccd: the home directory %s belongs to another user", home), "run it as that user, without sudo")
	}
	return nil
}

// Setup plans `ccd setup`: a step for each agent that is here, then the archive and the service. An agent is here if it
// has a directory, transcripts or a program. A service takes the place of a `ccd run` that runs. It fails as Usable and Plan do.
func (a Account) Setup(ctx context.Context) (steps []*Step, err error) {
	if err := a.Agents.Usable(); err != nil {
		return nil, err
	}
	plan, err := a.Plan(ctx)
	if err != nil {
		return nil, err
	}
	for _, f := range a.Place.Agents.All() {
		has := func(r daemon.RootPlan) bool { return r.Agent == f.Agent && r.Files > 0 }
		if slices.ContainsFunc(plan.Roots, has) || a.Agents.Found(f) {
			steps = append(steps, a.connect(f))
		}
	}
	steps = append(steps, a.archive(plan))
	service := a.service(ctx, true)
	if run := a.foreground(ctx); run != nil && service.State == Todo {
		steps = append(steps, run)
	}
	return append(steps, service), nil
}

// Undo plans `ccd setup --undo`: what Setup puts on the machine goes, and the companions. The service and `ccd run` are first, because they
// would write the companions again. The archive, the state and the configuration stay. It fails only if ctx ends.
func (a Account) Undo(ctx context.Context) ([]*Step, error) {
	steps := []*Step{a.service(ctx, false), a.foreground(ctx), a.companions(ctx), a.disconnect()}
	return slices.DeleteFunc(steps, func(s *Step) bool { return s == nil }), ctx.Err()
}

// connect is the row of an agent's settings.
func (a Account) connect(f transcript.Format) *Step {
	step := newStep(f.Agent, f.Title)
	if f.Connect == nil {
		step.Hint = f.How
		return step.is(Unavailable, "archived; ccd cannot edit its settings")
	}
	p, err := a.Agents.Plan(true, f.Agent)
	if err != nil {
		return step.fail(err)
	}
	if p.Empty() {
		return step.is(Unchanged, "already connected")
	}
	step.What = "connect: " + strings.Join(p.parts, ", ")
	if step.by(p, "connected", nil); slices.Contains(p.parts, "mod") {
		does := a.Agents.o.Mod.does(*f.Connect)
		step.Does, step.Mod = append(step.Does, does...), len(does)
		step.Compacts = a.Agents.o.Mod.Compaction
	}
	return step
}

// disconnect is the row of all agents' settings.
func (a Account) disconnect() *Step {
	step := newStep("agents", "agents")
	p, failed := a.Agents.Plan(false, Agents()...)
	if p == nil || p.Empty() && failed != nil {
		return step.fail(failed)
	}
	if p.Empty() {
		_ = p.Apply() // removes what a killed one left
		return step.is(Unchanged, "none is connected")
	}
	which := strings.Join(p.Agents, ", ")
	step.What = fmt.Sprintf("disconnect %s (%s)", which, words.Count(len(p.Steps()), "file"))
	if failed != nil {
		step.What += "; " + failed.Error()
	}
	step.by(p, "disconnected "+which, failed)
	return step
}

// by does the step by a plan. failed is why some agents are not in it.
func (s *Step) by(p *Plan, did string, failed error) {
	s.does("", p.Steps())
	s.do = func(context.Context) (string, error) {
		err := p.Apply()
		s.Notes = append(s.Notes, p.Notes...)
		return did, errors.Join(err, failed)
	}
}

// archive archives the sessions there are, unless a running daemon does.
func (a Account) archive(plan daemon.Plan) *Step {
	step := newStep("archive", "archive")
	switch {
	case plan.Files == 0 && plan.Known == 0:
		return step.is(Unchanged, "no sessions yet")
	case plan.New == 0:
		return step.is(Unchanged, "up to date, "+words.Count(plan.Known, "session"))
	}
	size := fmt.Sprintf("%s, about %s on disk", humanize.IBytes(uint64(plan.New)), humanize.IBytes(uint64(plan.Archive)))
	if _, running, _ := daemon.ReadRun(a.StateDir); running { // only one process writes the archive
		return step.is(Unchanged, "the running daemon archives new data: "+size)
	}
	if step.What = "archive new data: " + size; plan.Known == 0 {
		step.What = "store " + words.Count(plan.Sessions, "session") + ": " + size
	}
	where := plan.Companion
	if a.Config.Companion.Dir != "" {
		where = "in " + where
	}
	step.Does = []string{"write " + a.ArchivePath, "write companions (*.ccd.md) " + where}
	step.do = func(ctx context.Context) (string, error) {
		did, failed, err := a.Archive(ctx)
		if failed > 0 {
			err = words.Hint(fmt.Errorf("%s could not be archived", words.Count(failed, "file")), "ccd run --once")
		}
		return did, err
	}
	return step
}
