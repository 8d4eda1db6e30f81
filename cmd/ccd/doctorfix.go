package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// repair is what --fix does about a finding. It must be safe to do unasked: nothing that cannot be made again is touched.
type repair struct {
	what string // done, in the past tense: "took from others ..."
	do   func(context.Context) error
}

// by gives a finding what mends it.
func (f finding) by(what string, do func(context.Context) error) finding {
	f.repair = &repair{what, do}
	return f
}

// fix does every repair once, in the order of the findings, and returns what was done. It says each.
func (a *app) fix(ctx context.Context, all []finding) (done []finding) {
	tried := map[string]bool{}
	for _, f := range all {
		if f.repair == nil || tried[f.repair.what] || ctx.Err() != nil {
			continue
		}
		tried[f.repair.what] = true
		if err := f.repair.do(ctx); err != nil {
			fmt.Fprintf(a.err, "not fixed: %s: %v\n", f.Check, err)
			continue
		}
		a.say("fixed: %s: %s", f.Check, f.repair.what)
		done = append(done, finding{Check: f.Check, State: "ok", Detail: f.repair.what, Fixed: true})
	}
	return done
}

// tighten takes all rights from others at files and directories of ours. It follows no symlink, and stops at no error.
func tighten(paths []string) error {
	var failed error
	for _, p := range paths {
		if err := tightenOne(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

func tightenOne(path string) error {
	was, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if !was.Mode().IsRegular() && !was.IsDir() {
		return fmt.Errorf("%s is neither a file nor a directory", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	is, err := f.Stat()
	if err != nil {
		return err
	}
	if !os.SameFile(was, is) { // swapped for a link meanwhile
		return fmt.Errorf("%s was replaced meanwhile", path)
	}
	if err := f.Chmod(is.Mode().Perm() &^ 0o077); err != nil {
		return err
	}
	if is, err = f.Stat(); err == nil && is.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s: its file system keeps no modes", path)
	}
	return err
}
