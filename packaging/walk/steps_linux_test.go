//go:build rig

package walk

// steps is the whole way, in its order.
func steps() []step {
	return []step{
		{"machine boots", true, booted},
		{"package installed, nothing started", true, packaged},
		{"ccd service install as an ordinary user", true, installed},
		{"transcripts arrive, come back", true, arrived},
		{"kill -9 ten times", false, killed},
		{"a hang is noticed, work is none", false, hung},
		{"the sandbox from inside", false, sandboxed},
		{"no user namespaces", false, fallenBack},
		{"ccd setup, and its undo", false, setUp},
		{"the journal", false, told},
		{"logout, login, linger", false, lingering},
		{"reboot", true, rebooted},
		{"upgrade of the package", false, upgraded},
		{"hooks of agents", false, hooked},
		{"uninstall", false, purged},
		{"a service of the machine", false, machines},
		{"package removed", false, removed},
	}
}
