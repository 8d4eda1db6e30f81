package reader

import (
	"errors"
	"fmt"
	"strings"

	"ccd/cmd/ccd/internal/history"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

// Argument is a session as a hint's command line names it: it must work when it is pasted. It is as short as that allows; a name
// that two agents use needs its agent.
func (l *Library) Argument(e Entry) string {
	arg, agent := e.Name(), ""
	if len(arg) == uuidChars {
		arg = arg[:shortChars]
	}
	for _, other := range l.Sessions {
		switch {
		case other.Key == e.Key, other.Class == transcript.Earlier && other.Name() == e.Name():
		case other.Name() == e.Name():
			agent = "--agent " + e.Agent + " "
		case strings.HasPrefix(other.Name(), arg):
			arg = e.Name()
		}
	}
	return agent + words.Argument(arg)
}

const (
	uuidChars  = 36
	shortChars = 8 // of a UUID
)

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
		return words.Hint(err, "use more of the ID, such as %s", l.Argument(e))
	}
	return words.Hint(err, "ccd ls --all")
}
