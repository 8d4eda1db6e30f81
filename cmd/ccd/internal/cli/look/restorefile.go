package look

import (
	"context"
	"fmt"
	"io"

	"ccd/cmd/ccd/internal/reader"
)

// restoreFile prints a file as the agent last read or wrote it.
func (a *app) restoreFile(ctx context.Context, f restoreFlags, args []string) error {
	l, err := a.Library(ctx)
	if err != nil {
		return err
	}
	rules := l.Agents.Redact
	l.Agents = l.Agents.Exact()
	want := reader.WantedFile{Path: f.file, At: f.at, Agent: f.agent}
	if a.Terminal(a.Err) {
		want.Naming = l.ShortName
	}
	if len(args) == 1 {
		e, err := a.Choose(ctx, l, args[0], f.agent)
		if err != nil {
			return err
		}
		want.Session, want.Agent = e.ID, e.Agent
	} else {
		a.Incomplete(l) // a damaged session may have changed the file later
	}
	show, wipe := a.Progress("looking for the file:")
	v, err := l.File(ctx, want, show)
	wipe()
	if err != nil {
		return err
	}
	if f.info {
		return a.PrintObject(*v)
	}
	for _, line := range v.Notes(want.Naming) {
		a.Say("%s", line)
	}
	return a.deliver(l, f.output, f.force, false, func(w io.Writer) error {
		return a.countSecrets(rules, w, func(w io.Writer) error {
			_, err := io.WriteString(w, v.Text)
			if err != nil {
				return fmt.Errorf("write output: %w", err)
			}
			return nil
		})
	})
}
