package clients

import "os/exec"

func group(*exec.Cmd) {}
