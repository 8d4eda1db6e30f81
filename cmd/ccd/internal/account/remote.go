package account

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"ccd/internal/words"
	"ccd/packaging"
)

// RemoteProgram is the program that `ccd remote` runs. It has the network client, so that ccd needs none.
const RemoteProgram = "ccd-remote"

// Timer describes the timer that pushes to object storage, installed or not.
func (p *Place) Timer(out io.Writer) (*packaging.Timer, error) {
	o := packaging.Options{Home: p.Home, StateDir: p.StateDir, Environ: p.Env.Vars, Out: out}
	var err error
	if o.Executable, err = p.Env.Executable(); err != nil {
		return nil, err
	}
	if p.Env.ConfigFile != "" {
		o.Config = p.Env.Absolute(p.Env.ConfigFile)
	}
	return packaging.NewTimer(o)
}

// RemoteInstall is what to do if ccd-remote is missing or of another version.
const RemoteInstall = "install " + RemoteProgram + " from the same release as ccd; in a clone: go install ./cmd/..."

// FindRemote returns the path of ccd-remote: beside this program, else in PATH. It fails with a hint.
func (e Env) FindRemote() (string, error) {
	name := RemoteProgram
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if own, err := os.Executable(); err == nil {
		if own, err = filepath.EvalSymlinks(own); err == nil {
			if beside := filepath.Join(filepath.Dir(own), name); isProgram(beside) {
				return beside, nil
			}
		}
	}
	for _, dir := range filepath.SplitList(e.Getenv("PATH")) {
		if path := filepath.Join(dir, name); filepath.IsAbs(dir) && isProgram(path) {
			return path, nil
		}
	}
	return "", words.Hint(fmt.Errorf("run %s: not found beside ccd nor in PATH", RemoteProgram), RemoteInstall)
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0)
}
