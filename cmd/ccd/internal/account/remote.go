package account

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"ccd/internal/words"
)

// RemoteProgram is the program that `ccd remote` runs. It has the network client, so that ccd needs none.
const RemoteProgram = "ccd-remote"

// RemoteInstall is what to do if ccd-remote is missing or of another version.
const RemoteInstall = "install " + RemoteProgram + " from the same release as ccd; in a clone: make install"

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
