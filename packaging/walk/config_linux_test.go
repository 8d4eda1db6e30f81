//go:build rig

package walk

import (
	"strings"
)

// set writes alice's configuration.
func (w *walk) set(text string) {
	w.Helper()
	w.write(w.alice, w.alice.home()+configFile, text)
}

// status is what `ccd status` says, on both streams, whatever its exit status.
func (w *walk) status() string {
	w.Helper()
	out, said, _ := w.run(w.Context(), w.alice, "", "ccd", "status")
	return out + said
}

// now is the machine's time as journalctl reads it.
func (w *walk) now() string {
	w.Helper()
	return strings.TrimSpace(w.must(root, "date", "+%Y-%m-%d %H:%M:%S.%6N"))
}

// journal is what the service said since then.
func (w *walk) journal(since string) string {
	w.Helper()
	out, _, _ := w.run(w.Context(), root, "", "journalctl", "-q", "-o", "cat", "--since", since, "_SYSTEMD_USER_UNIT=ccd.service")
	return out
}
