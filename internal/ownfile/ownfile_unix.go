//go:build unix

package ownfile

import "syscall"

// noWait makes opening a FIFO without a writer return at once.
const noWait = syscall.O_NONBLOCK
