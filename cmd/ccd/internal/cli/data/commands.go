// Package data has the commands that check, copy and clean up the archive.
package data

import (
	"github.com/spf13/cobra"

	"ccd/cmd/ccd/internal/cli"
)

// app is what the commands of this package share.
type app struct{ *cli.App }

// Commands returns the commands, in the order of help.
func Commands(shared *cli.App) []*cobra.Command {
	a := &app{shared}
	return []*cobra.Command{
		cli.Grouped(
			&cobra.Command{Use: "archive", GroupID: cli.Data, Short: "check, back up and clean up the archive"},
			a.verifyCommand(), a.backupCommand(), a.importCommand(), a.gcCommand(), a.forgetCommand(), a.secretsCommand(),
		),
		a.remoteCommand(),
	}
}
