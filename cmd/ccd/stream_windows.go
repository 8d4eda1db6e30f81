package main

import "os"

// identity is of use to systemd's journal alone.
func identity(*os.File) (dev, inode uint64, ok bool) { return 0, 0, false }

// hungUp reports whether f is a terminal that is gone, which none is here.
func hungUp(*os.File) bool { return false }
