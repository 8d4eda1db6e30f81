package hook

import (
	"bytes"
	"os"
	"path/filepath"

	"ccd/internal/mark"
	"ccd/internal/ownfile"
	"ccd/internal/transcript"
)

// maxSaid is the size in bytes at which hook.said is rotated.
const maxSaid = 64 << 10

// noteLevel records that a session was warned of a level and reports whether it is the first time. The file STATE/hook.said
// has one line for each warning. If it cannot be written, noteLevel searches the transcript, where clients record what hooks
// print.
func (h Hooks) noteLevel(s transcript.Session, level string) bool {
	line := mark.Inline(s.Agent+" "+s.ID, 300) + " " + mark.Inline(level, 40) + "\n"
	path := filepath.Join(h.StateDir, "hook.said")
	noted := func() bool {
		for had := range ownfile.Lines(path) {
			if string(had) == line {
				return true
			}
		}
		return false
	}
	if noted() {
		return false
	}
	_ = os.MkdirAll(h.StateDir, 0o700) // if it is missing
	ownfile.Append(path, []byte(line), maxSaid)
	_, tail := readTail(s.Path, 0)
	return noted() || !bytes.Contains(tail, []byte(phrase(level)))
}
