package data

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ccd/cmd/ccd/internal/cli"
	"ccd/internal/remote/pulled"
)

func (a *app) remoteCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "remote", GroupID: cli.Data, Short: "encrypted copies in object storage; read other machines",
		Long: `push uploads what is new in the archive. pull reads the sessions of other
machines; ls, search, show and other commands show them with --machine NAME. A
machine only needs recipients (public keys); only an identity can read.

With --json: push: one object: machine, sessions, bytes (of transcripts),
packs, sent_bytes (encrypted), renewed (why the machine has a new name, else
""), damaged. pull: one array: machine, label, sessions, bytes, packs,
removed, repaired. status: one object: url, machine, tried, pushed, error,
hint, exit, damaged, behind {sessions, bytes} after it, lag (sessions and
bytes behind now), machines. check: machines, packs, read, problems. gc:
rewritten, packs, deleted, freed_bytes, waiting, kept, refused (objects that
the store does not delete). keys: identity, own, recipients. add, remove: the
settings`,
		Example: `  ccd remote add s3://backup/ccd --endpoint https://s3.example.org
      set the address of the copy, after ccd remote keys
  ccd remote push
      upload what is new; let cron do it every 5 minutes
  ccd remote pull && ccd ls --machine desk
      the sessions of the machine desk`,
	}
	var flags *pflag.FlagSet
	c.Args = cobra.ArbitraryArgs
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			args = []string{"status"}
		}
		flags.Visit(func(f *pflag.Flag) {
			if values, ok := f.Value.(pflag.SliceValue); ok {
				for _, v := range values.GetSlice() {
					args = append(args, "--"+f.Name+"="+v)
				}
			} else {
				args = append(args, "--"+f.Name+"="+f.Value.String())
			}
		})
		return a.remote(c.Context(), args)
	}
	flags = c.Flags()
	new(pulled.Flags).Add(flags)
	c.ValidArgs = []string{"add", "keys", "push", "pull", "status", "check", "gc", "remove"}
	return c
}

// remote runs ccd-remote with the paths and limits of the configuration.
func (a *app) remote(ctx context.Context, args []string) error {
	p, err := a.Place(true)
	if err != nil {
		return err
	}
	program, err := a.FindRemote()
	if err != nil {
		return err
	}
	host := p.Config.Companion.Host
	if host == "" {
		host, _ = os.Hostname()
	}
	line := []string{
		"--state=" + filepath.Join(p.StateDir, pulled.Dir), "--archive=" + p.ArchivePath, "--host=" + cmp.Or(host, "unknown"),
		"--min-free=" + strconv.FormatInt(int64(p.Config.Archive.MinFree), 10),
	}
	if a.JSON {
		line = append(line, "--json")
	}
	if a.Quiet {
		line = append(line, "--quiet")
	}
	c := exec.CommandContext(ctx, program, append(line, args...)...)
	c.Stdin, c.Stdout, c.Stderr, c.Env, c.Dir = a.In, cli.Unguarded(a.Out), cli.Unguarded(a.Err), a.Vars, a.Dir
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = 10 * time.Second
	err = c.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() > 0 {
		return cli.ErrChild{Code: exit.ExitCode()}
	}
	if err != nil {
		return fmt.Errorf("run %s: %w", program, err)
	}
	return nil
}
