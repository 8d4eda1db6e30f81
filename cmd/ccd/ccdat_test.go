package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"ccd/cmd/ccd/internal/account"
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
	code := runIn(t.Context(), append([]string{}, args...), std{strings.NewReader(stdin), &out, &errs}, account.Env{Vars: vars, Dir: dir, Program: programPath})
	return ended{code, out.String(), errs.String()}
}
