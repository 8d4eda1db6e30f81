//go:build rig

package walk

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// reloaded has the daemon read a changed configuration, a broken one, and one that its sandbox does not know.
func reloaded(w *walk) {
	defer w.restoreConfig()
	pid := w.pid()
	w.set(strings.Replace(config, "[watch]\n", "[watch]\nignore = [\"*unwanted*\"]\n", 1))
	w.reload()
	unwanted := w.alice.home() + "/.claude/projects/-home-alice-unwanted/00000000-0000-4000-8000-0000000000bb.jsonl"
	w.write(w.alice, unwanted, string(invented(w, 2000, 40<<10).text))
	w.grown(40 << 10)
	w.within(20*time.Second, "everything is archived", w.complete)
	if w.knows(unwanted) {
		w.Error("a transcript was archived that the new configuration ignores")
	}
	w.set(config)
	w.reload()
	w.within(20*time.Second, "what is ignored no more is archived", func() bool { return w.knows(unwanted) })
	w.files = append(w.files, unwanted)

	w.set(config + "[log]\nlevle = \"info\"\n")
	since := w.now()
	w.reload()
	w.within(5*time.Second, "the journal has an error", func() bool { return strings.Contains(w.journal(since, "err"), "config.toml") })
	w.grown(40 << 10)
	w.within(20*time.Second, "the old configuration holds", w.archives())
	w.set(config)
	w.has(w.status(), "rejected", "levle")
	w.reload()
	w.within(5*time.Second, "a good reload takes the bad one from the status", func() bool { return !strings.Contains(w.status(), "levle") })
	w.complete()
	if now := w.pid(); now != pid {
		w.Errorf("a reload is another process: %d, then %d", pid, now)
	}
	w.tell("pid unchanged by four")
	w.apart()
}

// apart sets a directory for all companions: transcripts become read-only to the service when install says so. The
// service cannot remove the companions that it leaves behind; doctor finds them and removes them.
func (w *walk) apart() {
	w.Helper()
	home := w.alice.home()
	dir := home + "/companions"
	had, _ := w.placed(home, nil)
	w.set(strings.Replace(config, "[companion]\n", fmt.Sprintf("[companion]\ndir = %q\n", dir), 1))
	w.reload()
	w.within(5*time.Second, "status says that install is needed", func() bool { return strings.Contains(w.status(), "ccd service install") })
	w.installAgain()
	w.within(2*time.Minute, "companions in a directory of their own", func() bool { _, all := w.placed(dir, had); return all })
	if got := w.probe(true); got["transcripts"] != "refused" || got["companions"] != "done" || got["state"] != "done" {
		w.Errorf("with companion.dir: %v, want transcripts read-only", got)
	}
	w.within(30*time.Second, "no session fails for the companion that it left", func() bool { return !strings.Contains(w.status(), "degraded") })
	w.tell("companion.dir: transcripts read-only; left: %s", w.earlier())
	w.set(config)
	w.installAgain()
	w.within(2*time.Minute, "companions beside their transcripts again", func() bool { _, all := w.placed(home+"/.", had); return all })
	w.within(30*time.Second, "no session fails for that either", func() bool { return !strings.Contains(w.status(), "degraded") })
	w.tell("and back; left: %s", w.earlier())
	w.refused(w.alice, "ls", dir)
}

// restoreConfig puts the walk's configuration back, also after a step that failed in its middle: the next steps
// start from it.
func (w *walk) restoreConfig() {
	w.Helper()
	if w.read(w.alice.home()+configFile) == config && !w.Failed() {
		return
	}
	w.set(config)
	w.installAgain()
}

// placed are the sessions whose companions stand below a directory, and whether that is every session that has one,
// those of had among them. More may have come since had was taken: a companion follows its transcript after a while.
func (w *walk) placed(below string, had map[string]bool) (found map[string]bool, all bool) {
	w.Helper()
	found, all = map[string]bool{}, true
	for _, s := range w.list(w.alice) {
		if !s.Present || s.Companion == "" && !had[s.Session] {
			continue
		}
		_, err := os.Stat(w.path(s.Companion))
		found[s.Session] = err == nil && strings.HasPrefix(s.Companion, below)
		all = all && found[s.Session]
	}
	return found, all && len(found) > 0
}

// earlier has doctor remove the companions of an earlier companion.dir, and returns what it said of them.
func (w *walk) earlier() string {
	w.Helper()
	find := func() (told string) {
		out, _, _ := w.run(w.Context(), w.alice, "", "ccd", "doctor")
		for line := range strings.Lines(out) {
			if strings.Contains(line, "in an earlier companion.dir") {
				told = strings.Join(strings.Fields(line), " ")
			}
		}
		return told
	}
	before := find()
	_, _, _ = w.run(w.Context(), w.alice, "", "ccd", "doctor", "--fix")
	if after := find(); before == "" || after != "" {
		w.Errorf("doctor tells %q of earlier companions, and %q once they are removed", before, after)
	}
	return before
}

// set writes alice's configuration.
func (w *walk) set(text string) {
	w.Helper()
	w.write(w.alice, w.alice.home()+configFile, text)
}

func (w *walk) reload() {
	w.Helper()
	w.must(w.alice, "systemctl", "--user", "reload", "ccd.service")
}

// status is what `ccd status` says, on both streams, whatever its exit status.
func (w *walk) status() string {
	w.Helper()
	out, said, _ := w.run(w.Context(), w.alice, "", "ccd", "status")
	return out + said
}

// knows reports whether the archive has a transcript.
func (w *walk) knows(source string) bool {
	w.Helper()
	for _, s := range w.list(w.alice) {
		if s.Source == source {
			return true
		}
	}
	return false
}

// archives returns a condition that looks at the archive's file alone: a broken configuration is one for `ccd ls` too.
func (w *walk) archives() func() bool {
	since := time.Now().Add(-time.Second)
	return func() bool { return w.archived().After(since) }
}

// now is the machine's time as journalctl reads it.
func (w *walk) now() string {
	w.Helper()
	return strings.TrimSpace(w.must(root, "date", "+%Y-%m-%d %H:%M:%S.%6N"))
}

// journal is what the service said since then at that priority or a graver one.
func (w *walk) journal(since, priority string) string {
	w.Helper()
	out, _, _ := w.run(w.Context(), root, "", "journalctl", "-q", "-o", "cat", "--since", since, "-p", priority, "_SYSTEMD_USER_UNIT=ccd.service")
	return out
}
