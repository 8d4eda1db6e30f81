package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"ccd/cmd/ccd/internal/account"
	"ccd/cmd/ccd/internal/cli"
)

// ended is what a command did.
type ended struct {
	code     int
	out, err string
}

// ccdAt runs ccd in this process as in a directory, with some variables beside those of a usual environment. The first
// value of a variable counts.
func ccdAt(t *testing.T, home, dir, stdin string, vars []string, args ...string) ended {
	t.Helper()
	var out, errs bytes.Buffer
	vars = append(vars, "HOME="+home, "USERPROFILE="+home, "PATH="+os.Getenv("PATH"))
	a := newApp(cli.Std{In: strings.NewReader(stdin), Out: &out, Err: &errs}, account.Env{Vars: vars, Dir: dir, Program: programPath})
	code := a.Execute(t.Context(), append([]string{}, args...))
	return ended{code, out.String(), errs.String()}
}
