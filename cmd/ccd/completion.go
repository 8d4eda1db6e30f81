package main

import (
	"strings"

	"github.com/spf13/cobra"
)

func (a *app) completionCommand() *cobra.Command {
	p := page{
		use: "completion bash|zsh|fish|powershell", group: setup, short: "print a shell's completion script",
		examples: []example{
			{"ccd completion bash > ~/.local/share/bash-completion/completions/ccd", "for bash; takes effect in new shells"},
			{"ccd completion fish | source", "for fish; takes effect at once"},
		},
	}
	shells := []string{"bash", "zsh", "fish", "powershell"}
	c := p.command(cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs), func(c *cobra.Command, args []string) error {
		if err := a.noJSON(c); err != nil {
			return err
		}
		switch root := c.Root(); args[0] {
		case "bash":
			return root.GenBashCompletionV2(a.out, true)
		case "zsh":
			return root.GenZshCompletion(a.out)
		case "fish":
			return root.GenFishCompletion(a.out, true)
		default:
			return root.GenPowerShellCompletionWithDesc(a.out)
		}
	})
	c.ValidArgs = shells
	return c
}

// completeSessions completes SESSION and --session by ID, and describes each session.
func (a *app) completeSessions(root *cobra.Command) {
	sessions := func(c *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		l, err := a.library(c.Context())
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		all := []cobra.Completion{"latest"}
		for _, e := range l.Listed("") {
			if id := shortID(e.ID); strings.HasPrefix(id, typed) || strings.HasPrefix(e.ID, typed) {
				all = append(all, cobra.CompletionWithDesc(id, sessionDetails(e)))
			}
		}
		return all, cobra.ShellCompDirectiveKeepOrder
	}
	for _, c := range root.Commands() {
		if strings.Contains(c.Use, "SESSION") && c.ValidArgsFunction == nil {
			c.ValidArgsFunction = sessions
		}
		if c.Flags().Lookup("session") != nil {
			_ = c.RegisterFlagCompletionFunc("session", sessions) // fails only if it is registered already
		}
	}
}
