// Command ccd keeps the long sessions of coding agents usable: it archives every transcript verbatim and keeps a
// compacted companion beside it, from which every original can be restored.
//
// This package owns the commands (one file each), how configuration becomes options, and the exit codes. It knows
// nothing of how anything works. Invariant: data goes to stdout, talk to stderr, and a command that only reads opens
// nothing for writing.
package main

import (
	"os"

	"github.com/spf13/cobra"
)

func main() {
	cobra.EnableCommandSorting = false // commands stand in the order of their groups; set once, as it is cobra's for the whole process
	ctx, stop := signals()
	defer stop()
	os.Exit(run(ctx, os.Args[1:], std{os.Stdin, os.Stdout, os.Stderr}, os.Environ()))
}
