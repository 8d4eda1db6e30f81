//go:build rig

package walk

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
