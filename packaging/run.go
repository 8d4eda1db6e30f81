package packaging

import (
	"context"
	"sync"

	"github.com/kardianos/service"
)

// native is the service library's own: Windows, where it is all there is to have.
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
	may := func(f func() error) step { return step{do: f, may: true} }
	return manager{
		name: svc.Platform(), hint: "run `ccd run` from the session's autostart",
		enable: []step{may(svc.Stop), may(svc.Uninstall), do(svc.Install)},
		run:    []step{do(svc.Start)},
		remove: []step{may(svc.Stop), do(svc.Uninstall)},
		start:  []step{do(svc.Start)}, stop: []step{do(svc.Stop)}, restart: []step{do(svc.Restart)},
		status: func(_ context.Context, _ runner, st *State) error {
			got, err := svc.Status()
			st.Installed, st.Enabled = err == nil, err == nil
			st.Active = got == service.StatusRunning
			return err
		},
		account: func(string) string { return "" },
		make:    func(string) []step { return nil },
		cause:   func(context.Context, runner) string { return "" },
	}, nil
}

// program is the daemon as the service library drives it.
type program struct{ start, stop func() error }

// Start begins the loop and returns at once.
func (p program) Start(service.Service) error { return p.start() }

// Stop ends the loop and returns when it has ended.
func (p program) Stop(service.Service) error { return p.stop() }

// Run runs loop and returns its error. Where a service manager started this process, it does so as the manager wants it
// and cancels loop's context when the manager says stop; else it is a plain call. Signals are the caller's: it cancels
// ctx, and Run returns when loop has ended.
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
		// In place of the library's own signal handling, which would swallow what ended the loop.
		Option: service.KeyValue{"RunWait": func() { _ = wait() }},
	})
	if err != nil {
		return loop(ctx)
	}
	return svc.Run()
}
