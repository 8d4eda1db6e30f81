//go:build unix

package clients

import (
	"os/exec"
	"syscall"
)

// group makes the end of a program the end of all that it started.
func group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
