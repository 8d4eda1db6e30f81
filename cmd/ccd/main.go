// Command ccd archives the transcripts of coding agents and writes compacted companions beside them.
// Its commands are the packages below internal/cli.
package main

import (
	"os"
	"slices"

	"github.com/spf13/cobra"

	"ccd/cmd/ccd/internal/account"
	"ccd/cmd/ccd/internal/cli"
	"ccd/cmd/ccd/internal/cli/agents"
	"ccd/cmd/ccd/internal/cli/data"
	"ccd/cmd/ccd/internal/cli/look"
	"ccd/cmd/ccd/internal/cli/setup"
)

// release is set by the linker for releases. Otherwise the build information has the version.
var release string

func main() {
	cobra.EnableCommandSorting = false // keep the order of the commands; the setting is global in cobra
	ctx, stop := cli.Signals()
	defer stop()
	a := newApp(cli.Std{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, account.Env{Vars: os.Environ()})
	a.Release, a.Process = release, true
	os.Exit(a.Execute(ctx, os.Args[1:]))
}

func newApp(s cli.Std, env account.Env) *cli.App {
	return &cli.App{Std: s, Env: env, Start: look.Home, Commands: func(a *cli.App) []*cobra.Command {
		return slices.Concat(look.Commands(a), agents.Commands(a), setup.Commands(a), data.Commands(a))
	}}
}
