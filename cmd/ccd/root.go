package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

const about = `ccd keeps long sessions of coding agents usable. It archives every transcript verbatim and keeps a
compacted companion beside it; whatever the companion leaves out comes back with ` + "`ccd restore ID`" + `.`

// rootCommand is `ccd` itself: global flags, and what holds for every command.
func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use: "ccd COMMAND", Short: "keep long sessions of coding agents usable", Long: about,
		SilenceErrors: true, SilenceUsage: true, DisableAutoGenTag: true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		Args:              unknownCommand,
		RunE:              func(c *cobra.Command, _ []string) error { writeRootHelp(a.out, c); return nil },
	}
	flags := root.PersistentFlags()
	flags.SortFlags = false
	flags.StringVar(&a.configFile, "config", "", "read the configuration from `FILE`")
	flags.BoolVar(&a.json, "json", false, "print what is listed as JSON, with stable keys; each command's help tells which")
	flags.BoolVarP(&a.quiet, "quiet", "q", false, "say nothing but errors on stderr")
	flags.BoolVarP(&a.verbose, "verbose", "v", false, "say more on stderr")
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g, Title: g + ":"})
	}
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if !c.HasParent() && strings.HasSuffix(err.Error(), " --version") {
			return hint(usage(c, err), "ccd version")
		}
		return usage(c, err)
	})
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { writeHelp(a.out, c) })
	return root
}

func unknownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	c.SuggestionsMinimumDistance = 2
	err := usageError{fmt.Errorf("find command %s: unknown command", args[0])}
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		return hint(err, "ccd %s", near[0])
	}
	return hint(err, "ccd help")
}

// noJSON refuses --json where it would print nothing of use; only then does a script notice.
func (a *app) noJSON(c *cobra.Command) error {
	if a.json {
		return usage(c, fmt.Errorf("ccd %s takes no --json", c.Name()))
	}
	return nil
}

func (a *app) helpCommand() *cobra.Command {
	p := page{
		use: "help [COMMAND]", group: care, short: "tell what ccd does, or what one command does",
		examples: []example{
			{"ccd help", "all commands"},
			{"ccd help restore", "one command, with examples and exit status"},
		},
	}
	return p.command(cobra.MaximumNArgs(1), func(c *cobra.Command, args []string) error {
		root := c.Root()
		if len(args) == 0 {
			writeRootHelp(a.out, root)
			return nil
		}
		i := slices.IndexFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == args[0] })
		if i < 0 {
			return unknownCommand(root, args)
		}
		writeHelp(a.out, root.Commands()[i])
		return nil
	})
}
