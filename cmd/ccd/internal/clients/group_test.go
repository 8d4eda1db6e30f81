//go:build rig && unix

package clients

import (
	"os/exec"
	"syscall"
	"time"
)

// group makes sure that killing a program also kills its children.
func group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// end waits until a process that was told to end has ended, and kills it after a while.
func end(pid int) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for n := 0; syscall.Kill(pid, 0) == nil && n < 200; n++ {
		if n == 100 {
			syscall.Kill(pid, syscall.SIGKILL)
		}
		<-tick.C
	}
}
