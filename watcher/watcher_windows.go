package watcher

import "os"

const (
	openFlags = os.O_RDONLY
	dirFlags  = os.O_RDONLY
)
