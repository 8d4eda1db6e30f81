// Package setup has the commands that set ccd up, run it and say how it is.
package setup

import (
	"github.com/spf13/cobra"

	"ccd/cmd/ccd/internal/cli"
)

// app is what the commands of this package share.
type app struct{ *cli.App }

// Commands returns the commands, in the order of help.
func Commands(shared *cli.App) []*cobra.Command {
	a := &app{shared}
	return []*cobra.Command{a.setupCommand(), a.runCommand(), a.serviceCommand(), a.statusCommand(), a.doctorCommand(), a.configCommand(), a.demoCommand()}
}
