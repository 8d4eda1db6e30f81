package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	agentsetup "ccd/cmd/ccd/internal/setup"
	"ccd/internal/agent/registry"
	"ccd/internal/transcript"
)

// agentName is the value of --agent.
type agentName struct {
	to  *string
	app *app
}

func (a agentName) String() string {
	if a.to == nil {
		return ""
	}
	return *a.to
}

func (agentName) Type() string { return "AGENT" }

func (a agentName) Set(name string) error {
	if id, ok := agentsetup.Find(name); ok { // accept the names that `ccd agents` and `ccd resume --to` use
		name = id
	}
	known := agentNames(a.app.Agents())
	for _, k := range known {
		if k == name {
			*a.to = name
			return nil
		}
	}
	return fmt.Errorf("unknown agent, want one of %s", strings.Join(known, ", "))
}

// agentNames returns the values of --agent.
func agentNames(agents registry.Table) []string { return append(agents.Names(), transcript.Messages) }

// flagError replaces the parser's text for a bad value by a plain one.
func flagError(err error) error {
	var bad *pflag.InvalidValueError
	if !errors.As(err, &bad) {
		return err
	}
	cause := bad.Unwrap()
	switch bad.GetFlag().Value.Type() {
	case "int", "int64":
		cause = errors.New("not a whole number")
	case "bool":
		cause = errors.New("not true or false")
	}
	return fmt.Errorf("--%s %q: %w", bad.GetFlag().Name, bad.GetValue(), cause)
}
