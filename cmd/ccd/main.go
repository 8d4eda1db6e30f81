// Command ccd archives the transcripts of coding agents and writes compacted companions beside them.
// This package has the commands, one file each, turns the configuration into options, and sets the exit codes. Data
// goes to stdout, messages go to stderr, and a command that only reads opens no file for writing.
package main

import (
	"os"

	"github.com/spf13/cobra"

	"ccd/cmd/ccd/internal/account"
)

// release is set by the linker for releases. Otherwise the build information has the version.
var release string

func main() {
	cobra.EnableCommandSorting = false // keep the order of root(); the setting is global in cobra
	ctx, stop := signals()
	defer stop()
	a := &app{std: std{os.Stdin, os.Stdout, os.Stderr}, Env: account.Env{Vars: os.Environ()}, run: runIn, release: release, process: true}
	os.Exit(execute(ctx, a, os.Args[1:]))
}
