package packaging

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"
)

// homeOf returns the home directory of an account according to the user database, whatever $HOME says; "" if unknown.
func homeOf(uid int) string {
	u, err := user.LookupId(strconv.Itoa(uid))
	if err != nil {
		return ""
	}
	return u.HomeDir
}

// lingers reports whether systemd keeps a user's services running after the last logout.
func lingers(user string) bool {
	return user != "" && filepath.Base(user) == user && exists(filepath.Join("/var/lib/systemd/linger", user))
}

// runs reports whether process pid runs the file that is now at executable, not an earlier one. It returns false if
// that is unknown.
func runs(pid int, executable string) bool {
	if pid <= 0 {
		return false
	}
	running, err := os.Stat(filepath.Join("/proc", strconv.Itoa(pid), "exe"))
	if err != nil {
		return false
	}
	there, err := os.Stat(executable)
	return err == nil && os.SameFile(running, there)
}

// session returns the environment variables that systemctl needs to find the user's manager, or none if dir does not
// exist. cron does not set them, and su and sudo leave those of another user.
func session(dir string) []string {
	if !exists(dir) {
		return nil
	}
	return []string{"XDG_RUNTIME_DIR=" + dir, "DBUS_SESSION_BUS_ADDRESS=unix:path=" + filepath.Join(dir, "bus")}
}
