//go:build unix

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"ccd/daemon"
	"ccd/internal/testkit"
)

// backupHome makes a home with an archived session, and returns the session's text.
func backupHome(t *testing.T) (home, text string) {
	t.Helper()
	home = t.TempDir()
	r := rand.New(rand.NewPCG(1, 1))
	for range 400 {
		text += strings.Replace(aLine, "parcels", fmt.Sprintf("%016x", r.Uint64()), 1)
	}
	put(t, transcriptPath(home, 1), text)
	if _, talk, code := outputs(t, home, "run", "--once"); code != exitDone {
		t.Fatal(talk)
	}
	return home, text
}

func backupConfig(every string, keep int) string {
	return fmt.Sprintf("[watch]\nscan_interval = \"1s\"\n[archive]\nmin_free = \"0\"\n[backup]\nevery = %q\nkeep = %d\n", every, keep)
}

// backupsIn returns the names of the backups in a directory, the newest first.
func backupsIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	all, err := daemon.Backups(dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range all {
		names = append(names, filepath.Base(b.Path))
	}
	return names
}

// age makes the backups two days older.
func age(t *testing.T, dir string) {
	t.Helper()
	all, err := daemon.Backups(dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range all {
		then := b.Time.Add(-48 * time.Hour)
		if err := os.Chtimes(b.Path, then, then); err != nil {
			t.Fatal(err)
		}
	}
}

// restoresAll checks that a backup is complete and has the session.
func restoresAll(t *testing.T, file, text string) {
	t.Helper()
	for want, args := range map[string][]string{"": {"archive", "verify", "-q"}, text: {"restore", "--session", filepath.Base(strings.TrimSuffix(transcriptPath("", 1), ".jsonl"))}} {
		var out, talk bytes.Buffer
		code := run(t.Context(), args, std{strings.NewReader(""), &out, &talk}, []string{"HOME=" + t.TempDir(), "CCD_ARCHIVE_PATH=" + file})
		if code != exitDone || out.String() != want {
			t.Errorf("%s of %s exits %d with %d bytes: %s", args[0], file, code, out.Len(), talk.String())
		}
	}
}

// The daemon makes backups, keeps as many as it should, and removes nothing else.
func TestBackupsByTheDaemon(t *testing.T) {
	t.Parallel()
	home, text := backupHome(t)
	configure(t, home, backupConfig("1s", 2))
	dir := filepath.Join(stateOf(t, home), "backups")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	other, _ := backupHome(t)
	foreign := map[string][]byte{"ccd-20200101-000000.db": []byte("notes"), "notes.db": nil}
	for home, names := range map[string][]string{other: {"ccd-20200102-000000.db"}, home: {"mine.db", "ccd-2020.db"}} {
		for _, name := range names {
			if _, talk, code := outputs(t, home, "archive", "backup", filepath.Join(dir, name)); code != exitDone {
				t.Fatal(talk)
			}
			foreign[name], _ = os.ReadFile(filepath.Join(dir, name))
		}
	}
	for name, content := range foreign {
		put(t, filepath.Join(dir, name), string(content))
	}
	c := spawn(t, home, "run")
	seen := map[string]bool{}
	eventually(t, "4 backups were made", func() bool {
		for _, name := range backupsIn(t, dir) {
			seen[name] = true
		}
		return len(seen) >= 4+2
	})
	eventually(t, "2 are kept", func() bool { return len(backupsIn(t, dir)) == 2+2 })
	configure(t, home, backupConfig("0", 2))
	c.signal(t, syscall.SIGHUP)
	eventually(t, "the configuration is reloaded", func() bool { r := c.info(t).Reload; return r != nil && r.Error == "" })
	for _, name := range backupsIn(t, dir) {
		if foreign[name] == nil {
			restoresAll(t, filepath.Join(dir, name), text)
		}
	}
	for name, content := range foreign {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !bytes.Equal(got, content) {
			t.Errorf("%s: %d bytes, %v; want %d", name, len(got), err, len(content))
		}
	}
	c.signal(t, syscall.SIGTERM)
	c.ends(t, exitDone, 5*time.Second)
	if out, talk, code := outputs(t, home, "setup", "--undo", "--purge", "--yes"); code != exitDone || !strings.Contains(talk, "backups of the archive") {
		t.Errorf("purge: %d %s%s", code, out, talk)
	}
	if got := backupsIn(t, dir); len(got) != 4 {
		t.Errorf("after a purge: %q", got)
	}
}

// A backup of a damaged archive replaces no complete one; status and doctor show it.
func TestBackupsOfADamagedArchive(t *testing.T) {
	testkit.Long(t, "it waits for four backups")
	t.Parallel()
	home, text := backupHome(t)
	configure(t, home, backupConfig("1d", 1))
	dir := filepath.Join(stateOf(t, home), "backups")
	if out, _, _ := outputs(t, home, "doctor"); !strings.Contains(string(out), "none yet in "+dir) {
		t.Errorf("doctor: %s", out)
	}
	c := spawn(t, home, "run")
	good := ""
	for range 2 {
		age(t, dir)
		eventually(t, "the only backup is a new one", func() bool {
			now := backupsIn(t, dir)
			if len(now) != 1 || now[0] == good || strings.Contains(now[0], "incomplete") {
				return false
			}
			good = now[0]
			return true
		})
	}
	c.signal(t, syscall.SIGTERM)
	c.ends(t, exitDone, 5*time.Second)
	if out, _, _ := outputs(t, home, "doctor"); !strings.Contains(string(out), good+", ") || !strings.Contains(string(out), "the newest is readable: ") {
		t.Errorf("doctor: %s", out)
	}

	archive := filepath.Join(stateOf(t, home), "archive.db")
	raw, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	if at := bytes.Index(raw, []byte("\x28\xb5\x2f\xfd")); at < 0 {
		t.Fatal("no block found")
	} else {
		raw[at+50] ^= 1
	}
	put(t, archive, string(raw))
	if err := os.Remove(transcriptPath(home, 1)); err != nil { // it could repair the archive
		t.Fatal(err)
	}
	c = spawn(t, home, "run")
	last := good
	for range 2 {
		age(t, dir)
		eventually(t, "there are one incomplete backup and the complete one", func() bool {
			now := backupsIn(t, dir)
			if len(now) != 2 || now[0] == last || !strings.HasSuffix(now[0], ".incomplete.db") || now[1] != good {
				return false
			}
			last = now[0]
			return true
		})
	}
	eventually(t, "the daemon reports it", func() bool { return strings.Contains(c.info(t).Backup, last) })
	for _, command := range []string{"status", "doctor"} {
		if out, talk, code := outputs(t, home, command); code == exitDone || !strings.Contains(string(out)+talk, "no new backup: the archive is damaged") {
			t.Errorf("%s: %d %s%s", command, code, out, talk)
		}
	}
	restoresAll(t, filepath.Join(dir, good), text)
	c.signal(t, syscall.SIGTERM)
	c.ends(t, exitDone, 5*time.Second)
}
