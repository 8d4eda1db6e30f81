//go:build rig

package clients

import "os/exec"

func group(*exec.Cmd) {}

func end(int) {}
