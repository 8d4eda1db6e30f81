package packaging

import (
	"context"
	"errors"
	"sync"

	"github.com/kardianos/service"
)

// native uses the service library's own support, for Windows.
func native(o Options) (manager, error) {
	args := arguments(o)
	svc, err := service.New(program{}, &service.Config{
		Name: name, DisplayName: name, Description: "ccd transcript compaction daemon",
		Executable: args[0], Arguments: args[1:], UserName: o.User,
		Option: service.KeyValue{"OnFailure": "restart"},
	})
	if err != nil {
		return manager{}, err
	}
	do := func(f func() error) step { return step{do: f} }
	may := func(f func() error) step { return step{do: f, optional: true} }
	return manager{
		name: svc.Platform(), hint: "start `ccd run` at login",
		enable: []step{may(svc.Stop), may(svc.Uninstall), do(svc.Install)},
		run:    []step{do(svc.Start)},
		remove: []step{may(svc.Stop), do(svc.Uninstall)},
		verbs:  map[string][]step{"start": {do(svc.Start)}, "stop": {do(svc.Stop)}, "restart": {do(svc.Restart)}},
		status: func(_ context.Context, _ runner, st *State) error {
			got, err := svc.Status()
			st.Installed, st.Enabled = err == nil, err == nil
			st.Active = got == service.StatusRunning
			if errors.Is(err, service.ErrNotInstalled) {
				return nil
			}
			return err
		},
		make: func(string) []step { return nil },
	}, nil
}

// program is the daemon for the service library.
type program struct{ start, stop func() error }

// Start starts the loop and returns at once.
func (p program) Start(service.Service) error { return p.start() }

// Stop ends the loop and waits for it.
func (p program) Stop(service.Service) error { return p.stop() }

// Run runs loop and returns its error. If a service manager started this process, Run follows its protocol, and cancels
// loop's context when the manager asks to stop. Signals are left to the caller: it cancels ctx, and Run returns when
// loop has ended.
func Run(ctx context.Context, loop func(context.Context) error) error {
	if service.Interactive() {
		return loop(ctx)
	}
	return managed(ctx, loop)
}

func managed(ctx context.Context, loop func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	result := make(chan error, 1)
	wait := sync.OnceValue(func() error { return <-result })
	p := program{
		start: func() error {
			go func() { result <- loop(ctx) }()
			return nil
		},
		stop: func() error { cancel(); return wait() },
	}
	svc, err := service.New(p, &service.Config{
		Name: name,
		// Replaces the library's own signal handling, which would discard the cause.
		Option: service.KeyValue{"RunWait": func() { _ = wait() }},
	})
	if err != nil {
		return loop(ctx)
	}
	return svc.Run()
}
