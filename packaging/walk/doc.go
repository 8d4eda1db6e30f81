// Package walk tests the service with a real service manager: it boots a Debian with systemd in a container, installs the
// package there, and does what users do, from `dpkg -i` to `dpkg -P`.
//
// The machine has no network but loopback, and nothing of it stays on the host. The package knows nothing of how ccd works:
// it runs the command and reads what is on the disk. The tests run where CCD_WALK names a directory that packaging/walk/run
// has prepared (`make systemd`). They have the build tag rig: a plain `go test` does not build them.
package walk
