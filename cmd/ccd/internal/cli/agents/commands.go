// Package agents has the commands for agents and what they call.
package agents

import (
	"github.com/spf13/cobra"

	"ccd/cmd/ccd/internal/cli"
)

// app is what the commands of this package share.
type app struct{ *cli.App }

// Commands returns the commands, in the order of help.
func Commands(shared *cli.App) []*cobra.Command {
	a := &app{shared}
	return []*cobra.Command{a.resumeCommand(), a.compactCommand(), a.agentsCommand(), a.hookCommand(), a.statuslineCommand()}
}
