package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"ccd/compactor"
	"ccd/compactor/sidecar"
	"ccd/internal/words"
)

func (a *App) versionCommand() *cobra.Command {
	return &cobra.Command{
		Hidden: true, Use: "version", Short: "print the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return a.printVersion() },
	}
}

// printVersion prints the version, its commit, and the versions of what it writes.
func (a *App) printVersion() error {
	commit := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				commit = fmt.Sprintf(" (%.12s)", s.Value)
			}
		}
	}
	return a.Print(fmt.Sprintf("ccd %s%s %s %s/%s, companion format %d, rules version %d\n",
		a.Version(), commit, runtime.Version(), runtime.GOOS, runtime.GOARCH, sidecar.Version, compactor.Rules))
}

// Version returns the version of this build.
func (a *App) Version() string { return words.Version(a.Release) }
