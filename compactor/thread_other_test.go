//go:build !linux

package compactor_test

import "time"

func threadTime() time.Duration { return time.Duration(time.Now().UnixNano()) }
