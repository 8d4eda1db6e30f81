package setup

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"ccd/cmd/ccd/internal/cli"
	"ccd/internal/config"
)

func (a *app) configCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "config", GroupID: cli.Setup, Short: "print what is configured, and where each value comes from",
		Long: `A later source wins: default, file, environment (CCD_SECTION_KEY), flag. The
file is --config FILE, else $CCD_CONFIG, else
$XDG_CONFIG_HOME/ccd/config.toml; none is needed.

With --json: one array, an object per key: key, value, source`,
		Example: `  ccd config --all
      every key, its value and its source
  mkdir -p ~/.config/ccd && ccd config --default > ~/.config/ccd/config.toml
      create a file with every key and its default`,
	}
	var all, defaults bool
	c.Args = cobra.NoArgs
	c.RunE = func(*cobra.Command, []string) error { return a.showConfig(all, defaults) }
	c.Flags().BoolVar(&all, "all", false, "print every key, also those that have their default")
	c.Flags().BoolVar(&defaults, "default", false, "print the defaults as a TOML file instead")
	return c
}

func (a *app) showConfig(all, defaults bool) error {
	if defaults {
		return a.Print(config.Example())
	}
	c, err := a.Config()
	if err != nil {
		return err
	}
	var rows [][]string
	for _, v := range c.Values() {
		value, err := json.Marshal(v.Value)
		if err != nil {
			return fmt.Errorf("print %s: %w", v.Key, err)
		}
		if !all && v.Source == "default" {
			continue
		}
		rows = append(rows, []string{v.Key, "= " + string(value) + "  # " + v.Source})
	}
	if a.JSON {
		return a.PrintJSON(c.Values())
	}
	if file, err := a.UsualConfig(); err == nil && c.Path() == "" {
		a.Say("no configuration file; it would be %s", file)
	}
	if !all {
		a.Say("all other keys have their default: ccd config --all")
	}
	return a.Table(rows)
}
