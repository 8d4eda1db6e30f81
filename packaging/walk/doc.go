// Package walk is the proof with a real service manager: its tests boot a Debian with systemd in a container, install
// the package there, and walk the whole life of the service as its users would, from `dpkg -i` to `dpkg -P`.
//
// It owns the machine, the users in it and the steps. Its invariants: the machine has no network but loopback, a name
// and control groups of its own, and nothing of it stays on the host whatever becomes of the walk; real transcripts go
// into the machine and nowhere else. It knows nothing of how ccd works: it runs the command and reads what stands on
// the disk.
//
// The walk runs where CCD_WALK names a directory that packaging/walk/run has prepared (`make systemd` does that and
// starts it). Its files have the build tag rig: a plain `go test` does not build them.
package walk
