//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"ccd/archive"
)

// stopSoon is how long Ctrl-Z waits for a transaction.
const stopSoon = time.Second

// stops lets Ctrl-Z stop the process between transactions, not within: one that is stopped with the archive's lock in its
// hands holds up all others. SIGSTOP cannot be taken.
func stops(brake *archive.Brake) {
	if signal.Ignored(syscall.SIGTSTP) {
		return
	}
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGTSTP)
	go func() {
		for range c {
			release := brake.Pull(stopSoon)
			stop()
			release()
		}
	}()
}

// stop stops the process and returns when it goes on. Once SIGTSTP was taken, Go cannot give it back to the system: SIGTTIN
// does the same. SIGSTOP does not: it stops also a process that no shell could let go on, as the first one in a container.
func stop() {
	goesOn := make(chan os.Signal, 1)
	signal.Notify(goesOn, syscall.SIGCONT)
	defer signal.Stop(goesOn)
	if syscall.Kill(os.Getpid(), syscall.SIGTTIN) != nil {
		return
	}
	select {
	case <-goesOn:
	case <-time.After(stopSoon): // the system does not stop it
	}
}
