package packaging

import (
	"context"
	"errors"
	"fmt"

	"ccd/internal/words"
)

// Do starts, stops or restarts ("start", "stop", "restart") the installed service, and returns when the manager reports that it has. A
// stopped service starts again with the next session. It fails, with a hint, if no service is installed or no manager answers.
func (s *Service) Do(ctx context.Context, verb string) error {
	st, err := s.Status(ctx)
	switch {
	case err != nil:
	case !st.Installed && s.o.System:
		err = words.Hint(errNotInstalled, "ccd service install --system --user NAME")
	case !st.Installed:
		err = words.Hint(errNotInstalled, "ccd service install")
	case verb == "stop" && !st.Active:
		s.say("service %s is not running", name)
		return nil
	case st.Silent != nil:
		err = words.Hint(st.Silent, "%s", s.mgr.hint)
	default:
		err = s.steps(ctx, s.mgr.verbs[verb])
	}
	if err != nil {
		return fmt.Errorf("%s service: %w", verb, err)
	}
	return nil
}

var errNotInstalled = errors.New("the service is not installed")
