package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"ccd/cmd/ccd/internal/install"
	"ccd/cmd/ccd/internal/reader"
	"ccd/packaging"
)

// undoing finds what `ccd setup --undo` removes. Only a purge needs a valid configuration.
func (a *app) undoing(f setupFlags) (u install.Undo, err error) {
	place, err := a.Place(true)
	if err != nil && !f.purge {
		place, err = a.State()
	}
	if err != nil {
		return u, err
	}
	u.All = f.purge
	if u.Library, err = reader.Open(place, false); err != nil {
		return u, err
	}
	if u.Agents, err = a.setup(nil, agentsFlags{}); err != nil {
		return u, err
	}
	u.Service, err = place.Service(packaging.Options{Out: io.Discard})
	return u, err
}

// onlyHere returns how many sessions a purge would destroy, 0 if that is not known.
func (a *app) onlyHere(ctx context.Context, f setupFlags) int {
	u, err := a.undoing(f)
	if err != nil || !f.purge || u.Load(ctx) != nil {
		return 0
	}
	n, _ := install.OnlyHere(ctx, u.Library)
	return n
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
