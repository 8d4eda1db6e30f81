package main

import (
	"github.com/spf13/cobra"
)

func (a *app) completionCommand() *cobra.Command {
	p := page{
		use: "completion bash|zsh|fish|powershell", group: setup, short: "print a shell's completion script",
		examples: []example{
			{"d=~/.local/share/bash-completion/completions; mkdir -p $d && ccd completion bash > $d/ccd", "for bash, from the next shell on"},
			{"ccd completion fish | source", "for fish, at once"},
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
