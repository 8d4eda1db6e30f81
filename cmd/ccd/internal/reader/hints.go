package reader

import (
	"errors"
	"fmt"

	"ccd/cmd/ccd/internal/history"
	"ccd/internal/words"
)

// Argument is a session as a hint's command line names it: it must work when it is pasted. A name that two agents use needs
// its agent.
func (l *Library) Argument(e Entry) string {
	arg := words.Argument(e.ID)
	for _, other := range l.Sessions {
		if other.ID == e.ID && other.Agent != e.Agent {
			return "--agent " + e.Agent + " " + arg
		}
	}
	return arg
}

// resolveHint says what to add to an argument that names no session, or several.
func (l *Library) resolveHint(arg string, err error) error {
	var several *history.AmbiguousError
	switch {
	case !errors.As(err, &several) && l.Limited():
		err = fmt.Errorf("%w%s", err, l.Scope())
		if arg == "latest" {
			return err
		}
		return words.Hint(err, Widen)
	case len(l.Sessions) == 0:
		return words.Hint(fmt.Errorf("%w: nothing is archived yet", err), "ccd run --once")
	case !errors.As(err, &several):
		return words.Hint(err, "ccd ls --all")
	}
	agents := map[string]int{}
	for _, c := range several.Sessions {
		agents[c.Agent]++
	}
	if first := several.Sessions[0].Agent; len(agents) == len(several.Sessions) {
		return words.Hint(err, "add --agent %s", first)
	}
	if e, ok := l.Entry(several.Sessions[0].Key); ok {
		return words.Hint(err, "use the full ID, such as %s", l.Argument(e))
	}
	return words.Hint(err, "ccd ls --all")
}
