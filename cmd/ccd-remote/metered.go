package main

import (
	"context"
	"os/exec"
	"strings"
	"time"
)

// metered reports whether NetworkManager considers the connection metered, as set by the user or guessed. It returns false
// without NetworkManager.
func metered(ctx context.Context) bool {
	program, err := exec.LookPath("busctl")
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	const name = "org.freedesktop.NetworkManager"
	out, err := exec.CommandContext(ctx, program, "--system", "--auto-start=no", "--timeout=3", "get-property", name, "/org/freedesktop/NetworkManager", name, "Metered").Output()
	answer := strings.TrimSpace(string(out)) // NMMetered: 1 yes, 2 no, 3 yes (guessed), 4 no (guessed)
	return err == nil && (answer == "u 1" || answer == "u 3")
}
