//go:build rig && linux

package clients

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// alone is set in the process inside the network namespace.
const alone = "CCD_CLIENTS_ALONE"

// isolate runs this program again in a network namespace with only loopback, and returns its exit status. If the
// machine does not allow that, why says so and nothing runs.
func isolate() (status int, why string) {
	cmd := exec.Command(os.Args[0], os.Args[1:]...)
	cmd.Env = append(os.Environ(), alone+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	if err := cmd.Start(); err != nil {
		return 0, fmt.Sprintf("network namespaces are not allowed here: %v", err)
	}
	if err := cmd.Wait(); err != nil {
		return max(1, cmd.ProcessState.ExitCode()), ""
	}
	return 0, ""
}

// onlyLoopback enables loopback and fails if there is another interface.
func onlyLoopback() error {
	all, err := net.Interfaces()
	if err != nil {
		return err
	}
	if len(all) != 1 || all[0].Flags&net.FlagLoopback == 0 {
		return fmt.Errorf("the network namespace has %d interfaces, want loopback only", len(all))
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq(all[0].Name)
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo)
}
