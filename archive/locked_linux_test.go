package archive

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// TestHolders checks how holders are read from the kernel's list of locks: stopped processes first, else those that hold the
// lock, else those at the gate.
func TestHolders(t *testing.T) {
	dir := t.TempDir()
	lock, gate := filepath.Join(dir, "archive.lock"), filepath.Join(dir, "archive.gate")
	line := func(pid int, what, file string) string {
		info, err := os.Stat(file)
		must(t, err)
		return fmt.Sprintf("1: %s ADVISORY WRITE %d 00:2e:%d 0 EOF\n", what, pid, inode(info))
	}
	for _, path := range []string{lock, gate} {
		must(t, os.WriteFile(path, nil, 0o600))
	}
	reader := Holder{Pid: 4711, Name: "ccd search"}
	daemon := Holder{Pid: 4712, Name: "ccd run", Stopped: true}
	for name, tt := range map[string]struct {
		locks string
		want  []Holder
	}{
		"nobody":                 {"", nil},
		"the lock":               {line(4711, "FLOCK", lock) + line(4713, "FLOCK", gate), []Holder{reader}},
		"the gate":               {line(4711, "FLOCK", gate), []Holder{reader}},
		"one of them is stopped": {line(4711, "FLOCK", lock) + line(4712, "FLOCK", gate), []Holder{daemon}},
		"twice":                  {line(4712, "FLOCK", lock) + line(4712, "FLOCK", gate), []Holder{daemon}},
		"locks of other kinds":   {line(4711, "POSIX", lock) + line(4711, "-> FLOCK", lock), nil},
		"not to be seen":         {line(4714, "FLOCK", lock), []Holder{{Pid: 4714}}},
	} {
		proc := t.TempDir()
		for path, text := range map[string]string{
			"locks":        tt.locks,
			"4711/cmdline": "/usr/bin/ccd\x00search\x00a secret\x00", "4711/stat": "4711 (ccd) S 1 ",
			"4712/cmdline": "ccd\x00run\x00", "4712/stat": "4712 (ccd) T 1 ",
			"4713/cmdline": "ccd\x00-q\x00ls\x00", "4713/stat": "4713 (ccd) S 1 ",
		} {
			must(t, os.MkdirAll(filepath.Dir(filepath.Join(proc, path)), 0o700))
			must(t, os.WriteFile(filepath.Join(proc, path), []byte(text), 0o600))
		}
		if got := holders(proc, lock, gate, filepath.Join(dir, "absent")); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
	if got := holders(t.TempDir(), lock); len(got) != 0 {
		t.Errorf("without a list: %+v", got)
	}
}
