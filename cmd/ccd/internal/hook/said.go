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

// Limits of the record of warnings, in bytes.
const (
	maxSaid = 64 << 10 // of hook.said; a full file loses its older half
	maxTail = 1 << 20  // of the end of a transcript that is read
)

// noteLevel records that a session was warned of a level and reports whether it is the first time. The file STATE/hook.said
// has one line for each warning. If it cannot be written, noteLevel searches the transcript, where clients record what hooks
// print.
func (h Hooks) noteLevel(s transcript.Session, level string) bool {
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
		return nil, errors.New("not a file written by ccd")
	}
	return os.ReadFile(path)
}

// note adds a line. It appends where it can, because two processes may do so at once.
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

// writable creates a directory of ccd if it is missing, and fails if it is read-only, also for root, whom the mode would not
// stop.
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

// inTranscript reports whether the end of a transcript contains a phrase.
func inTranscript(path, phrase string) bool {
	_, tail := readTail(path, 0)
	return bytes.Contains(tail, []byte(phrase))
}
