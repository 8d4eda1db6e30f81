package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"ccd/cmd/ccd/internal/account"
	"ccd/cmd/ccd/internal/cli"
	"ccd/internal/words"
)

// cmdTree lists the files below directories with name, mode and bytes: `tree OUT DIR...`.
func cmdTree(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: tree OUT DIR...")
	}
	var b bytes.Buffer
	for _, dir := range args[1:] {
		text, err := treeOf(ts.MkAbs(dir))
		ts.Check(err)
		b.WriteString(text)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b.Bytes(), 0o600))
}

func treeOf(dir string) (string, error) {
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		what := ""
		switch {
		case info.Mode().IsRegular():
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			what = fmt.Sprintf("%x", sha256.Sum256(text))
		case info.Mode()&fs.ModeSymlink != 0:
			if what, err = os.Readlink(path); err != nil {
				return err
			}
		}
		fmt.Fprintln(&b, path, info.Mode(), what)
		return nil
	})
	return b.String(), err
}

func TestAnswer(t *testing.T) {
	for in, want := range map[string]string{"yes\n": "yes", " YES \n": "YES", "yes": "yes", "": "", "yes please\n": "yes please"} {
		if got, err := cli.Answer(t.Context(), strings.NewReader(in)); got != want || err != nil {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
	in, out := io.Pipe() // never answers
	defer out.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cli.ErrInterrupted)
	if got, err := cli.Answer(ctx, in); got != "" || cli.ExitCode(err) != words.ExitInterrupted {
		t.Errorf("interrupted: %q, %v", got, err)
	}
}

func stateOf(t *testing.T, home string) string {
	t.Helper()
	p, err := account.Env{Vars: []string{"HOME=" + home, "USERPROFILE=" + home}}.State()
	must(t, err)
	return p.StateDir
}
