package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ccd/internal/testkit"
	"ccd/internal/words"
)

const quick = "[watch]\nsettle = \"20ms\"\nmax_wait = \"200ms\"\nscan_interval = \"1s\"\n[companion]\nrefresh_idle = \"200ms\"\n"

// started starts `ccd run` by a script that ends with `exec "$CCD" run`.
func started(t *testing.T, home, script string) *child {
	t.Helper()
	c := &child{Cmd: exec.CommandContext(t.Context(), "sh", "-c", script), home: home}
	c.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "CCD=" + programPath}
	c.Stderr = &c.stderr
	must(t, c.Start())
	return c
}

// allArchived waits until ccd restores exactly what is in the files.
func allArchived(t *testing.T, home string, paths ...string) {
	t.Helper()
	testkit.Eventually(t, "everything is archived", func() bool {
		for _, path := range paths {
			want := read(t, path)
			if got, _, code := outputs(t, home, "restore", "--session", id(path)); code != words.ExitDone || !bytes.Equal(got, want) {
				return false
			}
		}
		return true
	})
}

// endsNormally stops the daemon and checks that it ends normally.
func (c *child) endsNormally(t *testing.T) {
	t.Helper()
	c.signal(t, syscall.SIGTERM)
	c.ends(t, words.ExitDone, 5*time.Second)
}

// Without inotify watches ccd polls, reports that, and archives everything. Each user namespace has its own limits.
func TestInotifyLimits(t *testing.T) {
	limits := map[string]string{"max_inotify_watches=3": "watch limit", "max_inotify_instances=0": "inotify", "": ""}
	for _, limit := range testkit.Sample(t, slices.Sorted(maps.Keys(limits)), 1) {
		want := limits[limit]
		t.Run(limit, func(t *testing.T) {
			t.Parallel()
			script := `unshare -Ur true || exit 9; exec unshare -Ur sh -c 'exec "$CCD" run'`
			if name, n, ok := strings.Cut(limit, "="); ok {
				script = strings.Replace(script, "exec \"$CCD\"", "echo "+n+" >/proc/sys/user/"+name+" && exec \"$CCD\"", 1)
			}
			home := t.TempDir()
			configure(t, home, strings.Replace(quick, "1s", "1h", 1)) // no scan finds what the polls miss
			for _, dir := range []string{".codex/sessions/2026", ".gemini/tmp/a", ".pi/agent/sessions/b"} {
				must(t, os.MkdirAll(filepath.Join(home, dir), 0o700))
			}
			var paths []string
			for n := range 8 {
				path := filepath.Join(home, ".claude", "projects", fmt.Sprint("p", n), fmt.Sprintf("00000000-0000-4000-8000-%012d.jsonl", n))
				put(t, path, aLine)
				paths = append(paths, path)
			}
			c := started(t, home, script)
			testkit.Eventually(t, "the daemon runs", func() bool {
				if c.ProcessState == nil && c.state() == "Z" {
					_ = c.Wait()
				}
				if c.ProcessState != nil {
					t.Skipf("NOTICE: no user namespaces here: %s", c.stderr.String())
				}
				return c.running(t)
			})
			allArchived(t, home, paths...)
			for _, path := range paths {
				grow(t, path)
			}
			later := filepath.Join(home, ".claude", "projects", "later", "11111111-0000-4000-8000-000000000000.jsonl")
			put(t, later, aLine)
			allArchived(t, home, append(paths, later)...)
			o, _ := statusOf(t, home)
			polled, why := false, ""
			for _, r := range o.Roots {
				if strings.HasSuffix(r.Path, "/.claude/projects") {
					polled, why = r.Polled, r.Why
				}
			}
			if polled != (limit != "") || !strings.Contains(why, want) {
				t.Errorf("polled %v, because of %q", polled, why)
			}
			_, said, _ := ccdIn(home, "", "doctor")
			for _, text := range []string{fmt.Sprint(o.Degraded), said} { // one finding, of however many directories
				if told := strings.Count(text, "polled, not watched"); told != map[bool]int{true: 1}[limit != ""] {
					t.Errorf("%s: %s", limit, text)
				}
			}
			c.endsNormally(t)
		})
	}
}

// processorTime returns how long a process has used a processor.
func processorTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	b := read(t, fmt.Sprintf("/proc/%d/stat", pid))
	fields := strings.Fields(string(b)[bytes.LastIndexByte(b, ')')+1:])
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}

// Permissions that are taken away while an agent writes: ccd reports it, does not spin, and archives what it missed when
// they are back.
func TestPermissionsChangedInFlight(t *testing.T) {
	testkit.Long(t, "it waits for a daemon to try again")
	script := `exec "$CCD" run`
	if os.Geteuid() == 0 { // to root, permissions do not apply
		script = `setpriv --bounding-set -dac_override,-dac_read_search true || exit 9; exec setpriv --bounding-set -dac_override,-dac_read_search "$CCD" run`
	}
	home := t.TempDir()
	configure(t, home, quick)
	file, inDir := transcriptPath(home, 1), filepath.Join(home, ".claude", "projects", "-closed", "00000000-0000-4000-8000-000000000002.jsonl")
	put(t, file, aLine)
	put(t, inDir, aLine)
	c := started(t, home, script)
	testkit.Eventually(t, "the daemon runs", func() bool {
		if c.ProcessState == nil && c.state() == "Z" {
			_ = c.Wait()
			t.Skipf("NOTICE: no setpriv here: %s", c.stderr.String())
		}
		return c.running(t)
	})
	allArchived(t, home, file, inDir)
	var writers []*os.File
	for _, path := range []string{file, inDir} {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		must(t, err)
		defer f.Close()
		writers = append(writers, f)
	}
	chmod := func(mode os.FileMode, dirMode os.FileMode) {
		must(t, os.Chmod(file, mode))
		must(t, os.Chmod(filepath.Dir(inDir), dirMode))
	}
	defer chmod(0o600, 0o700)
	chmod(0, 0)
	for _, f := range writers {
		_, err := f.WriteString(aLine + aLine)
		must(t, err)
	}
	testkit.Eventually(t, "status reports both", func() bool {
		o, code := statusOf(t, home)
		return o.Running && o.Failing == 1 && o.Unreadable == 1 && code == words.ExitFailed && len(o.Degraded) >= 2
	})
	if got, _, code := outputs(t, home, "restore", "--session", id(file)); code != words.ExitDone || string(got) != aLine {
		t.Errorf("what was archived before: exit %d, %d bytes", code, len(got))
	}
	if testkit.Full() { // it does not spin
		before, begun := processorTime(t, c.Process.Pid), time.Now()
		<-time.After(3 * time.Second) // between two looks
		if used := processorTime(t, c.Process.Pid) - before; used > time.Since(begun)/10 {
			t.Errorf("it used %v of processor time in %v", used, time.Since(begun))
		}
	}
	chmod(0o600, 0o700)
	allArchived(t, home, file, inDir)
	testkit.Eventually(t, "status reports nothing", func() bool {
		o, code := statusOf(t, home)
		return o.Failing+o.Unreadable == 0 && code == words.ExitDone
	})
	c.endsNormally(t)
}

// Directories that are renamed while an agent writes into them, also the watched one.
func TestDirectoriesRenamedInFlight(t *testing.T) {
	testkit.Long(t, "it waits for a daemon to scan")
	t.Parallel()
	home := t.TempDir()
	configure(t, home, quick)
	root := filepath.Join(home, ".claude", "projects")
	path := transcriptPath(home, 1)
	put(t, path, aLine)
	c := spawn(t, home, "run")
	testkit.Eventually(t, "the daemon runs", func() bool { return c.running(t) })
	allArchived(t, home, path)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	defer f.Close()
	write := func() {
		t.Helper()
		_, err := f.WriteString(aLine)
		must(t, err)
	}
	at := filepath.Dir(path)
	for n := range 5 {
		to := filepath.Join(root, fmt.Sprint("-renamed", n))
		write()
		must(t, os.Rename(at, to))
		write()
		at = to
		allArchived(t, home, filepath.Join(at, filepath.Base(path)))
		must(t, os.Rename(root, root+".away"))
		write()
		testkit.Eventually(t, "the root is absent", func() bool {
			o, _ := statusOf(t, home)
			for _, r := range o.Roots {
				if r.Path == root && !r.Present {
					return true
				}
			}
			return false
		})
		if got, _, code := outputs(t, home, "restore", "--session", id(path)); code != words.ExitDone || len(got) != (3*n+3)*len(aLine) {
			t.Fatalf("round %d, without the root: exit %d, %d bytes", n, code, len(got))
		}
		must(t, os.Rename(root+".away", root))
		allArchived(t, home, filepath.Join(at, filepath.Base(path)))
	}
	c.endsNormally(t)
}

// Times of files that jump by years, forward and back, lose nothing: neither bytes nor companions nor earlier versions.
func TestFileTimesJump(t *testing.T) {
	testkit.Long(t, "it waits for a daemon to scan")
	t.Parallel()
	home := t.TempDir()
	configure(t, home, quick+"[trigger]\nthreshold = 1\nmin_savings = 0\n")
	path := transcriptPath(home, 1)
	text := string(muchTalk())
	put(t, path, text)
	c := spawn(t, home, "run")
	companion := strings.TrimSuffix(path, ".jsonl") + ".ccd.md"
	testkit.Eventually(t, "the companion is written", func() bool { _, err := os.Stat(companion); return err == nil })
	now := time.Now()
	for n, to := range []time.Time{now.AddDate(1, 0, 0), now.AddDate(-1, 0, 0), time.Unix(0, 0), now.AddDate(70, 0, 0), time.Unix(-1e9, 0), now} {
		grow(t, path)
		must(t, os.Chtimes(path, to, to))
		allArchived(t, home, path)
		b := read(t, path)
		at := bytes.LastIndexByte(b[:len(b)-1], '\n') - 20 - n
		b[at] ^= 1 // the same length: only its times show the change
		put(t, path, string(b))
		must(t, os.Chtimes(path, to.Add(time.Hour), to.Add(time.Hour)))
		allArchived(t, home, path)
		if _, err := os.Stat(companion); err != nil {
			t.Errorf("%v: %v", to, err)
		}
	}
	if got, talk, code := outputs(t, home, "restore", "--session", id(path), "--generation", "1"); code != words.ExitDone || !strings.HasPrefix(string(got), text) {
		t.Errorf("the first generation: exit %d, %d bytes: %s", code, len(got), talk)
	}
	done(t, home, "archive", "verify")
	c.endsNormally(t)
}

// With any number of file descriptors, a run archives all or fails with a message. The next run archives the rest.
func TestFewFileDescriptors(t *testing.T) {
	testkit.Long(t, "it tries each limit")
	t.Parallel()
	failed, done := 0, 0
	for _, limit := range testkit.Sample(t, []int{3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, 4) {
		home := t.TempDir()
		var paths []string
		for n := range 3 {
			paths = append(paths, transcriptPath(home, n))
			put(t, paths[n], aLine)
		}
		c := started(t, home, fmt.Sprintf(`ulimit -n %d && exec "$CCD" run --once`, limit))
		_ = c.Wait()
		code, said := c.ProcessState.ExitCode(), c.stderr.String()
		switch {
		case code == words.ExitDone:
			done++
			allArchived(t, home, paths...)
		case code < 0 || said == "" || limit > 8 && strings.Contains(said, "goroutine "): // with fewer, Go's runtime does not start
			t.Errorf("limit %d: exit %d: %s", limit, code, said)
		default:
			failed++
		}
		once(t, home)
		allArchived(t, home, paths...)
	}
	if t.Logf("%d runs failed, %d were done", failed, done); testkit.Full() && (failed == 0 || done == 0) {
		t.Error("the limits are too low or too high: the test sees nothing")
	}
}
