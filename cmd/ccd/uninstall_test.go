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
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdTree writes what stands below directories, by name, mode and bytes: `tree OUT DIR...`.
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

func TestAgreed(t *testing.T) {
	for answer, want := range map[string]bool{"yes\n": true, " YES \n": true, "yes": true, "y\n": false, "": false, "no\n": false, "yes please\n": false} {
		if got, err := agreed(t.Context(), strings.NewReader(answer), "yes"); got != want || err != nil {
			t.Errorf("%q: %v, %v", answer, got, err)
		}
	}
	in, out := io.Pipe() // nobody answers
	defer out.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errInterrupted)
	if got, err := agreed(ctx, in, "yes"); got || exitCode(err) != exitInterrupted {
		t.Errorf("interrupted: %v, %v", got, err)
	}
}

func TestMeantAccount(t *testing.T) {
	for _, c := range []struct{ installed, named, want string }{{"alice", "", "alice"}, {"", "bob", "bob"}, {"alice", "alice", "alice"}, {"", "", ""}} {
		if got, err := meant(c.installed, c.named); err != nil || got != c.want {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}
	if got, err := meant("alice", "bob"); err == nil || got != "" {
		t.Errorf("bob's is asked for and alice's installed: %q", got)
	}
}

// What the service has written between the question and its end goes too.
func TestPurgeFindsWhatCameMeanwhile(t *testing.T) {
	home := t.TempDir()
	a := &app{env: []string{"HOME=" + home}, std: std{err: io.Discard}}
	projects := filepath.Join(home, ".claude", "projects", "-work")
	must(t, os.MkdirAll(projects, 0o700))
	i, err := a.installation(uninstallFlags{purge: true})
	must(t, err)
	before, err := i.remains(t.Context())
	must(t, err)
	late := filepath.Join(projects, "c0ffee00-1a2b-4c3d-8e4f-5a6b7c8d9e0f.ccd.md")
	must(t, os.WriteFile(late, []byte("---\nccd: 1\nsource: projects/-work/c0ffee00-1a2b-4c3d-8e4f-5a6b7c8d9e0f.jsonl\n---\n"), 0o600))
	after, err := i.again(t.Context(), before)
	must(t, err)
	if len(before.companions) > 0 || !slices.Equal(after.companions, []string{late}) {
		t.Errorf("%q before, %q after", before.companions, after.companions)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
