package agents

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"time"

	"ccd/cmd/ccd/internal/hook"
	"ccd/cmd/ccd/internal/install"
	"ccd/cmd/ccd/internal/loopback"
)

// serve is the name under which `ccd hook` starts itself to listen for a client that asks a model for the summary of a compaction.
const serve = "Serve"

// reload is how long a client takes at most to read its changed settings. It waits for the hook, and then asks the model that it knows:
// its own if that took longer.
const reload = time.Second

// offer returns a function that has a summary ready for a client that asks a model.
func (a *app) offer(agent string) func(hook.Summary) (string, error) {
	return func(s hook.Summary) (string, error) {
		self, err := os.Executable()
		if err != nil {
			return "", err
		}
		argv := []string{self, "hook", serve, "--agent", agent}
		if a.ConfigFile != "" {
			argv = append(argv, "--config", a.ConfigFile)
		}
		mark := "ccd compaction " + rand.Text()
		if err := loopback.Start(argv, loopback.Offer{Summary: s, Mark: mark}); err != nil {
			return "", err
		}
		time.Sleep(reload)
		return mark, nil
	}
}

// withdraw removes what a killed process may have left in the settings of a client that asks a model: the client then asks its own.
func (a *app) withdraw(agent string) {
	if install.Connection(agent).Model == nil {
		return
	}
	_ = a.settings(func(s *install.Setup) error { return s.Offer(agent, "") }) // if that fails, so does the client's compaction
}

// serve listens until the client has taken the summary that is offered on stdin. No address of ccd's is in its settings then.
func (a *app) serve(ctx context.Context, agent string) {
	entry := hook.Entry{Time: time.Now().UTC().Truncate(time.Second), Event: hook.SessionCompact, Agent: agent}
	begun := time.Now()
	o, err := loopback.Read(a.In)
	if err == nil && install.Connection(agent).Model == nil {
		err = errors.New("the agent asks no model for its summaries")
	}
	if err == nil {
		err = a.settings(func(s *install.Setup) error {
			return o.Serve(ctx, a.Out, func(url string) error { return s.Offer(agent, url) })
		})
	}
	if err == nil {
		entry.Did = o.Did
	}
	a.logHook(entry, begun, err)
}

// settings calls do with what edits the agents' settings.
func (a *app) settings(do func(*install.Setup) error) error {
	s, err := a.AgentSetup(nil)
	if err != nil {
		return err
	}
	return do(s)
}
