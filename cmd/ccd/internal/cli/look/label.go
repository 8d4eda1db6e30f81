package look

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"ccd/archive"
	"ccd/cmd/ccd/internal/cli"
	"ccd/cmd/ccd/internal/reader"
	"ccd/daemon"
	"ccd/internal/words"
)

// labelFlags are what `ccd label` changes.
type labelFlags struct {
	pin, unpin  bool
	tag, untag  []string
	name, agent string
}

func (a *app) labelCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "label [SESSION]", GroupID: cli.Everyday, Short: "pin, tag or name a session",
		Long: `ccd keeps the companion of a pinned session forever, even after the agent
removed the transcript. A tag is one word of at most 40 characters, in lower
case. A name is one line of at most 120 characters; lists show it before the
agent's title, which does not change. It must not name another session. Labels
are in the archive, so backups have them. ccd ls --pinned and --tag list by
label. Without a flag, ccd prints the labels.

` + cli.SessionWords,
		Example: `  ccd label 5d2f7a1e --pin                    keep its companion
  ccd label 5d2f7a1e --tag billing --tag q3   add two tags
  ccd label 5d2f7a1e --name "cents migration"`,
		Args: cli.OneSession,
	}
	var f labelFlags
	flags := c.Flags()
	flags.SortFlags = false
	flags.BoolVar(&f.pin, "pin", false, "pin the session")
	flags.BoolVar(&f.unpin, "unpin", false, "remove the pin")
	flags.StringArrayVar(&f.tag, "tag", nil, "add the `TAG`; repeatable")
	flags.StringArrayVar(&f.untag, "untag", nil, "remove the `TAG`; repeatable")
	flags.StringVar(&f.name, "name", "", "name it `NAME`; an empty one removes the name")
	a.AgentFlag(c, &f.agent)
	cli.NotWith(c, "pin", "unpin")
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.label(c, cli.SessionOf(args), f)
	}
	return c
}

// apply returns the labels with the changes of the flags that were given.
func (f labelFlags) apply(now daemon.Labels, given func(flag string) bool) (daemon.Labels, error) {
	if given("pin") {
		now.Pinned = f.pin
	}
	now.Pinned = now.Pinned && !f.unpin
	now, err := now.Tagged(f.tag, false)
	if err == nil {
		now, err = now.Tagged(f.untag, true)
	}
	if err == nil && given("name") {
		now, err = now.Named(f.name)
	}
	return now, err
}

// checkName returns an error if a name already names something as a SESSION argument, other than the session itself.
func checkName(l *reader.Library, e *reader.Entry, name string) error {
	if _, latest := reader.LatestIn(name); latest || name == cli.ThisDir {
		return words.Usage(fmt.Errorf("name %q: it means another session each time", name))
	}
	other, err := l.Named(name)
	switch {
	case errors.Is(err, archive.ErrNotFound), other == e:
		return nil
	case err != nil:
		return words.Usage(fmt.Errorf("name %q: it names other sessions: %w", name, err))
	}
	return words.Usage(fmt.Errorf("name %q: it names session %s", name, other.Short()))
}

// label changes the labels of a session and says what they are.
func (a *app) label(c *cobra.Command, arg string, f labelFlags) error {
	given := c.Flags().Changed
	asked, err := f.apply(daemon.Labels{}, given)
	if err != nil {
		return cli.Usage(c, err)
	}
	library, err := a.Locate(false)
	if err == nil {
		err = library.Load(c.Context())
	}
	if err != nil {
		return err
	}
	e, err := a.Choose(c.Context(), library, arg, f.agent)
	if err != nil {
		return err
	}
	if !given("pin") && !given("unpin") && !given("tag") && !given("untag") && !given("name") {
		return a.Print(labels(e, e.Kept.Labels) + "\n")
	}
	if err := checkName(library, e, asked.Name); err != nil {
		return err
	}
	var now daemon.Labels
	err = daemon.Label(c.Context(), library.Archive, e.Key, func(was daemon.Labels) (daemon.Labels, error) {
		now, err = f.apply(was, given)
		return now, err
	})
	if err != nil {
		return err
	}
	a.Say("%s", labels(e, now))
	return nil
}

// labels says what labels a session has.
func labels(e *reader.Entry, now daemon.Labels) string {
	pinned := "not pinned"
	if now.Pinned {
		pinned = "pinned"
	}
	return fmt.Sprintf("%s: %s, tags: %s, name: %s", e.ID, pinned, cmp.Or(strings.Join(now.Tags, ", "), "none"), cmp.Or(now.Name, "none"))
}
