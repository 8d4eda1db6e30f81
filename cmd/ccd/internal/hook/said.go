package hook

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"ccd/internal/atomicfile"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// Limits of what is remembered, in bytes.
const (
	maxSaid = 64 << 10 // of the file; when it is full its older half goes
	maxTail = 1 << 20  // of a transcript, where the file cannot be written
)

// firstTime reports whether a level was not yet told of in a session, and notes it. The file STATE/hook.said has one
// line for each. Where that cannot be written, the transcript itself tells: clients keep what hooks say.
func (h Hooks) firstTime(s transcript.Session, level string) bool {
	line := mark.Inline(s.Agent+" "+s.ID, 300) + " " + mark.Inline(level, 40) + "\n"
	path := filepath.Join(h.StateDir, "hook.said")
	had, err := readSaid(path)
	if bytes.Contains(append([]byte("\n"), had...), []byte("\n"+line)) {
		return false
	}
	if err == nil && note(path, had, line) == nil {
		return true
	}
	return !inTranscript(s.Path, phrase(level))
}

func readSaid(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > 2*maxSaid:
		return nil, errors.New("not the file that ccd writes")
	}
	return os.ReadFile(path)
}

// note adds a line: two processes may do so at once.
func note(path string, had []byte, line string) error {
	if err := writable(filepath.Dir(path)); err != nil {
		return err
	}
	if len(had)+len(line) > maxSaid {
		half := had[len(had)/2:]
		half = half[bytes.IndexByte(half, '\n')+1:]
		return atomicfile.Write(path, 0o600, append(half, line...))
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line)
	return errors.Join(err, f.Close())
}

// writable makes a directory of ccd's, or finds that one is there that may be written to. One that is read-only stays as
// it is, also for a user whom that would not stop.
func writable(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return os.MkdirAll(dir, 0o700)
	case err == nil && info.Mode().Perm()&0o200 == 0:
		return fs.ErrPermission
	}
	return err
}

// inTranscript reports whether the end of a transcript holds a phrase.
func inTranscript(path, phrase string) bool {
	_, tail := newest(path, 0)
	return bytes.Contains(tail, []byte(phrase))
}
