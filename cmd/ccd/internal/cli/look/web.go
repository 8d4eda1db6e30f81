package look

import (
	"context"
	"errors"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"ccd/cmd/ccd/internal/cli"
	"ccd/cmd/ccd/internal/install"
	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/web"
)

type webFlags struct {
	addr, agent string
	noOpen      bool
	hosts       []string
	idle        time.Duration
}

// webMemory is where the server collects garbage sooner, in bytes of Go's memory.
const webMemory = 37 << 20

func (a *app) webCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "web [SESSION|PATH]", GroupID: cli.Everyday, Short: "show your sessions in a browser, on this machine only",
		Long: `Serves a page on loopback and prints its address: what your agents do now, the
sessions, each session's requests, edits and files, its context over time,
what each compaction dropped, and every original. The page grows while the
agent works. The address has a token that works once; the browser then keeps a
cookie. PATH is the path of a page, such as "/?q=parser".`,
		Example: `  ccd web
      open the first page
  ccd web latest
      open the newest session
  ccd web --no-open --addr 127.0.0.1:8080
      only print the address, with this port`,
	}
	var f webFlags
	c.Args = cobra.MaximumNArgs(1)
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.web(c, args, f)
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.addr, "addr", "127.0.0.1:0", "listen on `ADDR`, which must be loopback; port 0: always the same, or a free one if that is taken")
	flags.BoolVar(&f.noOpen, "no-open", false, "do not open a browser")
	flags.StringArrayVar(&f.hosts, "allow-host", nil, "also answer requests for the host `NAME`, for a proxy")
	flags.DurationVar(&f.idle, "idle", 30*time.Minute, "end after `TIME` without requests; 0: never")
	a.AgentFlag(c, &f.agent)
	return c
}

func (a *app) web(c *cobra.Command, args []string, f webFlags) error {
	ctx := c.Context()
	l, err := a.Locate(true)
	if err != nil {
		return err
	}
	to, err := a.webPage(ctx, l, args, f.agent)
	if err != nil {
		return err
	}
	s, err := web.Listen(web.Options{Library: l, Addr: f.addr, Hosts: f.hosts, Idle: f.idle, Unused: a.unused()})
	if err != nil {
		return err
	}
	if err := a.showAddress(ctx, l, s.Address(to), f); err != nil {
		return errors.Join(err, s.Close())
	}
	if a.Process {
		debug.SetGCPercent(40) // a page is made in milliseconds, but the server stays: memory matters more than time
		debug.SetMemoryLimit(webMemory)
	}
	return s.Serve(ctx)
}

// unused returns a function that reports whether ccd could add to an agent's context at a compaction, or write it, and is not set up to.
func (a *app) unused() func(agent string) bool {
	s, err := a.AgentSetup(nil)
	return func(agent string) bool {
		if err != nil { // that it is set up is not known
			return true
		}
		part := "hooks"
		if install.Connection(agent).Hooks == "" {
			part = "mod"
		}
		return slices.Contains(install.Agents(), agent) && slices.ContainsFunc(s.Status(agent).Parts, func(p install.Part) bool {
			return p.Name == part && p.State == install.Missing
		})
	}
}

// webPage returns the path of the page that an argument names.
func (a *app) webPage(ctx context.Context, l *reader.Library, args []string, agent string) (string, error) {
	if len(args) == 0 {
		return "/", nil
	}
	if web.IsPage(args[0]) {
		return args[0], nil
	}
	copied := *l
	if err := copied.Load(ctx); err != nil {
		return "", err
	}
	e, err := a.Choose(ctx, &copied, args[0], agent)
	if err != nil {
		return "", err
	}
	return web.SessionPath(e.Agent, e.ID), nil
}

// showAddress prints the address and opens it in a browser if a person runs this on a terminal.
func (a *app) showAddress(ctx context.Context, l *reader.Library, address string, f webFlags) error {
	if err := a.Print(address + "\n"); err != nil {
		return err
	}
	a.Say("serving until Ctrl-C")
	if f.noOpen || !cli.IsTTY(a.Out) {
		return nil
	}
	file, err := web.OpenFile(l.StateDir, address)
	if args := a.opener(file); args != nil && err == nil {
		_ = exec.CommandContext(context.WithoutCancel(ctx), args[0], args[1:]...).Start() // the address is printed anyway
	}
	return nil
}

// opener returns the command that opens a file in the browser, nil if there is no screen.
func (a *app) opener(file string) []string {
	switch runtime.GOOS {
	case "darwin":
		return []string{"open", file}
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler", file}
	}
	if a.Getenv("DISPLAY") == "" && a.Getenv("WAYLAND_DISPLAY") == "" {
		return nil
	}
	return []string{"xdg-open", file}
}
