package packaging

import (
	"context"
	"fmt"

	"ccd/internal/words"
)

// Start starts the installed service and returns when the manager reports that it is running. It fails with
// ErrNotInstalled if there is none.
func (s *Service) Start(ctx context.Context) error { return s.verb(ctx, "start", s.mgr.start) }

// Stop stops the service until it is started again or the next session begins. It fails with ErrNotInstalled if there
// is none.
func (s *Service) Stop(ctx context.Context) error { return s.verb(ctx, "stop", s.mgr.stop) }

// Restart stops the service if it is running, and starts it. It fails with ErrNotInstalled if there is none.
func (s *Service) Restart(ctx context.Context) error { return s.verb(ctx, "restart", s.mgr.restart) }

func (s *Service) verb(ctx context.Context, verb string, steps []step) error {
	st, err := s.Status(ctx)
	if err == nil && !st.Installed {
		install := "ccd service install"
		if s.o.System {
			install += " --system --user NAME"
		}
		err = words.Hint(ErrNotInstalled, "%s", install)
	}
	if err == nil && verb == "stop" && !st.Active {
		fmt.Fprintf(s.o.Out, "service %s is not running\n", name)
		return nil
	}
	if err == nil && st.Silent != nil {
		err = words.Hint(st.Silent, "%s", s.mgr.hint)
	}
	if err == nil {
		err = s.steps(ctx, steps)
	}
	if err != nil {
		return fmt.Errorf("%s service: %w", verb, err)
	}
	return nil
}
