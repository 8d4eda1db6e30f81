//go:build rig

package walk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The limits of what one thing may take; it takes a fraction of them on a machine that is not busy.
const (
	bootLimit    = time.Minute
	commandLimit = 2 * time.Minute
	beat         = 20 * time.Millisecond // between two looks at something that is waited for
)

// account is somebody on the machine.
type account struct {
	name string
	uid  int
}

func (a account) home() string {
	if a.uid == 0 {
		return "/" + a.name
	}
	return "/home/" + a.name
}

// environment is what a login of a gives a shell.
func (a account) environment() []string {
	env := []string{"PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME=" + a.home(), "USER=" + a.name, "LOGNAME=" + a.name, "LANG=C.UTF-8"}
	if a.uid != 0 {
		run := "/run/user/" + strconv.Itoa(a.uid)
		env = append(env, "XDG_RUNTIME_DIR="+run, "DBUS_SESSION_BUS_ADDRESS=unix:path="+run+"/bus")
	}
	return env
}

// machine is a container with systemd as its first process.
type machine struct {
	work, name string // of the host: the directory of everything; of the machine: its name
	leader     int    // the host's number of the machine's first process, 0 while it is off
	nspawn     *exec.Cmd
	ended      chan error
}

// path is the host's path of a file of the machine's disk.
func (m *machine) path(inside string) string { return filepath.Join(m.work, "root", inside) }

// ownGroup moves the shell into control groups of the machine's own: two machines booted from the same ones would both
// take them for theirs.
const ownGroup = `for d in /sys/fs/cgroup /sys/fs/cgroup/systemd /sys/fs/cgroup/unified; do
	[ -e "$d/cgroup.procs" ] && mkdir -p "$d/$0" 2>/dev/null && echo $$ >"$d/$0/cgroup.procs"
done 2>/dev/null
exec "$@"`

// boot starts the machine and returns when systemd says that it runs.
func (m *machine) boot() error {
	log, err := os.OpenFile(filepath.Join(m.work, "console"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	m.nspawn = exec.Command("sh", "-c", ownGroup, m.name, "systemd-nspawn", "--quiet", "-D", m.path("/"), "-M", m.name,
		"--private-network", "--register=no", "--keep-unit", "-b")
	m.nspawn.Stdout, m.nspawn.Stderr = log, log
	m.nspawn.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	if err := m.nspawn.Start(); err != nil {
		return err
	}
	m.ended = make(chan error, 1)
	go func() { m.ended <- m.nspawn.Wait() }()
	if err := m.note("nspawn", m.nspawn.Process.Pid); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), bootLimit)
	defer cancel()
	err = poll(ctx, func() bool {
		m.leader = child(m.nspawn.Process.Pid)
		return m.leader != 0 && m.running(ctx)
	})
	if err != nil {
		m.kill()
		console, _ := os.ReadFile(log.Name())
		return fmt.Errorf("boot: %w\n%s", err, console)
	}
	return m.note("leader", m.leader)
}

// note leaves a process number where packaging/walk/run finds it when it has to clear up.
func (m *machine) note(name string, pid int) error {
	return os.WriteFile(filepath.Join(m.work, name), []byte(strconv.Itoa(pid)+"\n"), 0o600)
}

func (m *machine) running(ctx context.Context) bool {
	out, _ := m.command(ctx, root, "systemctl", "is-system-running").Output()
	state := strings.TrimSpace(string(out))
	return state == "running" || state == "degraded"
}

// child is the only child of a process, 0 while it has none.
func child(pid int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return n
}

// powerOff ends the machine in an orderly way.
func (m *machine) powerOff() error {
	const powerOff = syscall.Signal(34 + 4) // RTMIN+4, as systemd(1) has it
	if err := syscall.Kill(m.leader, powerOff); err != nil {
		return fmt.Errorf("power off: %w", err)
	}
	select {
	case <-m.ended:
		m.off()
		return nil
	case <-time.After(bootLimit):
		m.kill()
		return errors.New("power off: it does not end")
	}
}

// kill ends the machine at once, if it is on.
func (m *machine) kill() {
	if m.nspawn == nil || m.ended == nil {
		return
	}
	if m.leader == 0 || syscall.Kill(m.leader, syscall.SIGKILL) != nil {
		_ = m.nspawn.Process.Kill()
	}
	<-m.ended
	m.off()
}

// off forgets a machine that has ended, and removes its control groups when the last process is out of them.
func (m *machine) off() {
	m.leader, m.ended = 0, nil
	for _, note := range []string{"leader", "nspawn"} {
		_ = os.Remove(filepath.Join(m.work, note))
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = poll(ctx, m.disbanded)
}

func (m *machine) disbanded() bool {
	left := false
	for _, dir := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/systemd", "/sys/fs/cgroup/unified"} {
		var groups []string
		_ = filepath.WalkDir(filepath.Join(dir, m.name), func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				groups = append(groups, path)
			}
			return nil
		})
		for _, g := range slices.Backward(groups) {
			left = syscall.Rmdir(g) != nil || left
		}
	}
	return !left
}

// command is a command of an account inside the machine, in its home, with the environment of a login and nothing else.
func (m *machine) command(ctx context.Context, who account, argv ...string) *exec.Cmd {
	id := strconv.Itoa(who.uid)
	args := []string{
		"-t", strconv.Itoa(m.leader), "-m", "-u", "-i", "-n", "-p", "-C", "-S", id, "-G", id, "--",
		"/usr/bin/env", "-i", "-C", who.home(),
	}
	cmd := exec.CommandContext(ctx, "nsenter", slices.Concat(args, who.environment(), argv)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// run runs a command of an account and returns what it printed on both streams, apart.
func (m *machine) run(ctx context.Context, who account, stdin string, argv ...string) (out, said string, err error) {
	ctx, cancel := context.WithTimeout(ctx, commandLimit)
	defer cancel()
	cmd := m.command(ctx, who, argv...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	err = cmd.Run()
	return stdout.String(), stderr.String(), err
}

// poll looks until ok, or until ctx ends.
func poll(ctx context.Context, ok func() bool) error {
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for !ok() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}
