package packaging

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"
)

// homeOf is an account's home directory as the machine's list of accounts has it, whatever $HOME says; "" where the list
// does not tell.
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

// runs reports whether process pid runs the executable that stands at a path now, and not one that was replaced since.
// Where that cannot be told it says no.
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

// session returns the variables by which a user's commands find the user's manager, where the environment names no
// directory of theirs (has) and the usual one is there: cron gives none, and su and sudo leave another user's.
func session(has, usual string, uid int) []string {
	mine := func(dir string) bool {
		info, err := os.Stat(dir)
		return err == nil && info.IsDir() && ownedBy(info, uid)
	}
	if has != "" && mine(has) || !mine(usual) {
		return nil
	}
	return []string{"XDG_RUNTIME_DIR=" + usual, "DBUS_SESSION_BUS_ADDRESS=unix:path=" + filepath.Join(usual, "bus")}
}
