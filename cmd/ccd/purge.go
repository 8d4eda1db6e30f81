package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"ccd/cmd/ccd/internal/install"
	"ccd/cmd/ccd/internal/reader"
	"ccd/internal/words"
	"ccd/packaging"
)

// lostByPurge returns how many sessions a purge would destroy, as the start of an error, or "" if none or unknown.
func (a *app) lostByPurge(ctx context.Context) string {
	i, err := a.installation(true)
	if err != nil || i.Load(ctx) != nil {
		return ""
	}
	n, err := install.OnlyHere(ctx, i.Library)
	if err != nil || n == 0 {
		return ""
	}
	return install.OnlyHereText(n) + "; "
}

// installation finds what `ccd setup --undo` removes. Only a purge needs a valid configuration.
func (a *app) installation(purge bool) (p install.Purge, err error) {
	p.Say = a.say
	p.Problem = func(problem string) { fmt.Fprintf(a.err, "problem: %s\n", problem) } // printed even with --quiet
	place, err := a.Place(true)
	if err != nil && !purge {
		place, err = a.State()
	}
	if err != nil {
		return p, err
	}
	if p.Library, err = reader.Open(place, false); err != nil {
		return p, err
	}
	p.Service, err = place.Service(packaging.Options{Out: a.talkOut()})
	return p, err
}

// purge lists everything of ccd of this account except transcripts, asks, and removes it.
func (a *app) purge(ctx context.Context, f setupFlags) error {
	if !f.yes && !f.dryRun && !a.answers() {
		return words.Hint(words.Usage(fmt.Errorf("purge: %sno terminal to confirm on; nothing was removed", a.lostByPurge(ctx))), "ccd setup --undo --purge --yes")
	}
	p, err := a.installation(true)
	if err != nil {
		return err
	}
	if err := p.Check(ctx); err != nil {
		return err
	}
	s, err := a.setup(nil, agentsFlags{})
	if err != nil {
		return err
	}
	p.Agents = s
	r, err := p.Find(ctx)
	if err != nil {
		return err
	}
	switch {
	case f.dryRun:
		return a.print(r.Text())
	case !a.quiet || !f.yes:
		fmt.Fprint(a.err, r.Text())
	}
	for _, problem := range r.Problems() {
		p.Problem(problem)
	}
	if !f.yes {
		if err := a.confirm(ctx, r.OnlyHere); err != nil {
			return err
		}
	}
	if err := p.Remove(ctx, r); !errors.Is(err, install.ErrIncomplete) {
		return err
	}
	return errSaid
}

// confirm asks before removing everything. If sessions exist nowhere else, the user must type their number.
func (a *app) confirm(ctx context.Context, onlyHere int) error {
	want, why := "yes", ""
	if onlyHere > 0 {
		want, why = strconv.Itoa(onlyHere), install.OnlyHereText(onlyHere)+". "
	}
	fmt.Fprintf(a.err, "%sType %s to remove all of it: ", why, want)
	switch given, err := answer(ctx, a.in); {
	case err != nil:
		fmt.Fprintln(a.err) // end the line of the question
		return err
	case !strings.EqualFold(given, want):
		return fmt.Errorf("purge: answer was not %s; nothing removed", want)
	}
	return nil
}

// answers reports whether there is a terminal to ask on.
func (a *app) answers() bool {
	in, ok := a.in.(*os.File)
	return ok && a.terminal(in) && a.terminal(a.err)
}

// answer reads a line without the space around it, or "" if there is none. If ctx ends, it fails with the cause; the
// read continues until the process ends.
func answer(ctx context.Context, in io.Reader) (string, error) {
	text, err := readLine(ctx, bufio.NewReader(in))
	return strings.TrimSpace(text), err
}
