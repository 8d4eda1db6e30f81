package packaging

import (
	_ "embed"
	"path/filepath"
	"slices"

	"ccd/internal/transcript"
)

//go:embed sandbox.conf.tmpl
var sandboxText string

// secrets are the places below a home directory that the daemon must not read.
func secrets() []string {
	return []string{
		".ssh", ".gnupg", ".aws", ".azure", ".config/gcloud", ".kube", ".docker", ".password-store", ".netrc", ".git-credentials",
		".local/share/keyrings", ".mozilla",
	}
}

// sockets are the sockets, in systemd's notation, of programs that would act on behalf of any client.
func sockets() []string {
	return []string{
		"-%t/bus", "-%t/systemd/private", "-%t/gnupg", "-%t/keyring", "-%t/docker.sock", "-%t/podman",
		"-/run/dbus", "-/run/docker.sock", "-/run/podman", "-/run/containerd",
	}
}

// sandboxOf returns the lines of a unit that are the sandbox. A user's manager applies most of it only in a separate user
// namespace, and without PrivateUsers= silently ignores ProtectHome= and others.
func sandboxOf(o Options) ([]byte, error) {
	seen := slices.Concat([]string{o.Executable, o.Config, o.StateDir}, o.Writes, o.Reads)
	for _, p := range seen {
		if real, err := filepath.EvalSymlinks(p); err == nil { // a missing path has no target yet
			seen = append(seen, real)
		}
	}
	within := func(dir string) bool {
		return slices.ContainsFunc(seen, func(p string) bool { return transcript.Inside(p, dir) })
	}
	var writes, hidden []string
	for _, dir := range slices.Compact(slices.Sorted(slices.Values(o.Writes))) {
		writes = append(writes, "-"+dir) // it may be created later: the daemon then says what to do
	}
	for _, dir := range secrets() {
		if dir = filepath.Join(o.Home, dir); !within(dir) {
			hidden = append(hidden, "-"+dir)
		}
	}
	// With a private /tmp or /run the service would not see watched roots that are below the machine's.
	return fill(sandboxText, map[string]any{
		"Writes": writes, "Hidden": hidden, "Tmp": !within("/tmp") && !within("/var/tmp"), "Run": !within("/run"), "Sockets": sockets(),
	})
}
