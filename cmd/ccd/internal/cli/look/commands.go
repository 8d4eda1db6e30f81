// Package look has the commands that show what is archived.
package look

import (
	"github.com/spf13/cobra"

	"ccd/cmd/ccd/internal/cli"
)

// app is what the commands of this package share.
type app struct{ *cli.App }

// Commands returns the commands, in the order of help.
func Commands(shared *cli.App) []*cobra.Command {
	a := &app{shared}
	return []*cobra.Command{a.topCommand(), a.lsCommand(), a.showCommand(), a.timelineCommand(), a.searchCommand(), a.filesCommand(), a.weekCommand(), a.diffCommand(), a.restoreCommand(), a.webCommand(), a.exportCommand(), a.labelCommand(), a.agentCommand(), a.mcpCommand()}
}
