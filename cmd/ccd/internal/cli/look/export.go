package look

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ccd/cmd/ccd/internal/cli"
	"ccd/cmd/ccd/internal/web"
)

type exportFlags struct {
	agent, output string
	force         bool
}

func (a *app) exportCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "export [SESSION]", GroupID: cli.Everyday, Short: "write a session as one HTML file",
		Long: `Writes the whole session as one page that needs no server, no network and no
JavaScript: where the work stands, its context over time, its requests,
answers, calls and files, and what each compaction dropped. Long texts and
outputs are cut; each has the ID that ccd restore prints in full. On a
terminal, the file is named after the session.

` + cli.SessionWords,
		Example: `  ccd export                           this directory's session
  ccd export 5d2f7a1e > session.html   another one, to stdout`,
	}
	var f exportFlags
	c.Args = cli.OneSession
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.export(c.Context(), cli.SessionOf(args), f)
	}
	flags := c.Flags()
	outputFlags(flags, &f.output, &f.force)
	a.AgentFlag(c, &f.agent)
	a.MachineFlag(c)
	return c
}

func (a *app) export(ctx context.Context, arg string, f exportFlags) (err error) {
	l, e, err := a.Session(ctx, arg, f.agent)
	if err != nil {
		return err
	}
	a.SayLag(l, e)
	if f.output == "" && cli.IsTTY(a.Out) {
		f.output = strings.ReplaceAll(e.Short(), "/", "-") + ".html"
		defer func() {
			if err == nil {
				a.Say("wrote %s", f.output)
			}
		}()
	}
	defer a.Waiting()()
	return a.deliver(l, f.output, f.force, false, func(w io.Writer) error { return web.Export(ctx, l, e, w) })
}

// outputFlags adds the flags of a command that can write to a file.
func outputFlags(flags *pflag.FlagSet, output *string, force *bool) {
	flags.FuncP("output", "o", "write to `FILE`, which must not exist, instead of stdout", func(path string) error {
		if *output = path; path == "" {
			return errors.New("must name a file")
		}
		return nil
	})
	flags.BoolVar(force, "force", false, "overwrite FILE")
}
