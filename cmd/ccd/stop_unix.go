//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"ccd/archive"
)

// stopSoon limits how long Ctrl-Z waits for a transaction.
const stopSoon = time.Second

// handleCtrlZ makes Ctrl-Z stop the process between transactions. A stopped process that held the archive's lock would block
// all others. SIGSTOP cannot be caught.
func handleCtrlZ(brake *archive.Brake) {
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

// stop stops the process and returns when it continues. Go cannot restore the default action of a caught SIGTSTP, so it
// sends SIGTTIN. SIGSTOP would also stop a process that no shell can continue, such as the first one in a container.
func stop() {
	goesOn := make(chan os.Signal, 1)
	signal.Notify(goesOn, syscall.SIGCONT)
	defer signal.Stop(goesOn)
	if syscall.Kill(os.Getpid(), syscall.SIGTTIN) != nil {
		return
	}
	select {
	case <-goesOn:
	case <-time.After(stopSoon): // the system ignored the signal
	}
}
