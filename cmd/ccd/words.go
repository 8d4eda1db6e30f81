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

// agentName is the value of --agent: one of the agents whose transcripts are known.
type agentName struct {
	to  *string
	app *app
}

// String implements pflag.Value.
func (a agentName) String() string {
	if a.to == nil {
		return ""
	}
	return *a.to
}

// Type implements pflag.Value.
func (agentName) Type() string { return "AGENT" }

// Set implements pflag.Value.
func (a agentName) Set(name string) error {
	if id, ok := agentsetup.Find(name); ok { // as `ccd agents` and `ccd resume --to` name it
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

// agentNames returns what --agent takes.
func agentNames(agents registry.Table) []string { return append(agents.Names(), transcript.Messages) }

// flagError tells a flag's bad value in words of the command line, not of the parser.
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
