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

type versionOutput struct {
	Version   string `json:"version"`
	Revision  string `json:"revision"`
	Modified  bool   `json:"modified"`
	Go        string `json:"go"`
	Platform  string `json:"platform"`
	Companion int    `json:"companion"`
	Rules     int    `json:"rules"`
}

func (a *App) versionCommand() *cobra.Command {
	c := &cobra.Command{
		Hidden: true, Use: "version", Short: "print the version",
		Long: `With --json: one object: version, revision, modified (built from a changed
tree), go, platform, companion (version of its format), rules (version of the
compaction rules)`,
		Example: `  ccd version          version, revision, Go version, platform
  ccd version --json   the same for scripts`,
	}
	c.Args = cobra.NoArgs
	c.RunE = func(*cobra.Command, []string) error { return a.printVersion() }
	return c
}

func (a *App) printVersion() error {
	v := a.build()
	if a.JSON {
		return a.PrintJSON(v)
	}
	text := "ccd " + v.Version
	if v.Revision != "" {
		text += " (" + v.Revision[:min(12, len(v.Revision))] + ")"
	}
	return a.Print(fmt.Sprintf("%s %s %s, companion format %d, rules version %d\n", text, v.Go, v.Platform, v.Companion, v.Rules))
}

// Version returns the version of this build.
func (a *App) Version() string { return words.Version(a.Release) }

func (a *App) build() versionOutput {
	v := versionOutput{
		Version: a.Version(), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Companion: sidecar.Version, Rules: compactor.Rules,
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}
