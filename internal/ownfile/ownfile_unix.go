//go:build unix

package ownfile

import "syscall"

// noWait: the open of a FIFO that nobody writes to returns at once.
const noWait = syscall.O_NONBLOCK
