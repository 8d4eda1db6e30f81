package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// completeSessions completes SESSION and --session by ID, and describes each session.
func (a *App) completeSessions(root *cobra.Command) {
	sessions := func(c *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		l, err := a.Library(c.Context())
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		all := []cobra.Completion{"latest"}
		for _, e := range l.Listed("") {
			if id := e.Short(); strings.HasPrefix(id, typed) || strings.HasPrefix(e.ID, typed) {
				all = append(all, cobra.CompletionWithDesc(id, SessionDetails(e)))
			}
		}
		return all, cobra.ShellCompDirectiveKeepOrder
	}
	EachCommand(root, func(c *cobra.Command) {
		if strings.Contains(c.Use, "SESSION") && c.ValidArgsFunction == nil {
			c.ValidArgsFunction = sessions
		}
		if c.Flags().Lookup("session") != nil {
			_ = c.RegisterFlagCompletionFunc("session", sessions) // fails only if it is registered already
		}
	})
}
