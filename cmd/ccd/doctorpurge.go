package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	"github.com/dustin/go-humanize"

	"ccd/internal/agent/registry"
	"ccd/watcher"
)

// claudeKeeps is how many days Claude Code keeps a transcript where nothing is set.
const claudeKeeps = 30

// shortPeriod is how many days an agent must keep transcripts for a daemon that does not run to be no danger yet.
const shortPeriod = 7

// checkPurge tells when agents remove their transcripts: what is not archived by then is gone.
func checkPurge(_ context.Context, s *surroundings) []finding {
	const check = "purge"
	days, file, err := s.a.claudePurge()
	switch {
	case err != nil:
		return []finding{note(check, "mend "+shellWord(file)+", or let claude-code do it", "claude-code's settings cannot be read: %v", err)}
	case days == nil:
		return []finding{s.purge(claudeKeeps, "%s (its default)")}
	case *days < 1:
		return []finding{wrong(check, `set "cleanupPeriodDays" in `+file+" to 1 or more",
			"claude-code keeps no transcripts (cleanupPeriodDays %v): there is nothing to archive", *days)}
	}
	return []finding{s.purge(*days, "%s")}
}

// purge compares what is not archived with an agent's removing what it has not changed for so many days.
func (s *surroundings) purge(days float64, told string) finding {
	const check = "purge"
	told = fmt.Sprintf(told, fmt.Sprintf("%v days", days))
	if days == 1 {
		told = "1 day"
	}
	period := time.Duration(min(days, 36500) * 24 * float64(time.Hour))
	soon := min(3*24*time.Hour, period/4)
	late := s.unarchived(func(f watcher.Found) bool {
		return f.Root.Agent == "claude-code" && s.now.Sub(f.ModTime) > period-soon
	})
	mend := "ccd run --once, and then ccd install"
	if s.service.state.Installed {
		mend = "ccd run --once if no daemon runs; ccd status lists failures"
	}
	switch {
	case late.files > 0 && s.running && s.run.LastPass.IsZero():
		return note(check, "", "claude-code removes transcripts after %s: %s not archived yet, and the daemon's first pass is at work",
			told, are(late.files, "of them", "of them"))
	case late.files > 0:
		when := "at its next start"
		if left := period - s.now.Sub(late.oldest); left > 0 {
			when = "from " + minute(s.now.Add(left)) + " on"
		}
		return wrong(check, mend, "claude-code removes transcripts after %s: %s not fully archived, and it may remove them %s",
			told, are(late.files, "of them", "of them"), when)
	case !s.running && days <= shortPeriod:
		return note(check, mend, "claude-code removes transcripts after %s, and no daemon runs that would archive them before", told)
	}
	return ok(check, "claude-code removes transcripts after %s; the archive keeps them", told)
}

func are(n int, one, many string) string {
	if n == 1 {
		return "1 " + one + " is"
	}
	return fmt.Sprintf("%d %s are", n, many)
}

// claudePurge is after how many days Claude Code removes transcripts, nil where its settings, in file, say nothing.
func (a *app) claudePurge() (days *float64, file string, err error) {
	dir := a.getenv("CLAUDE_CONFIG_DIR")
	if dir == "" {
		home, err := a.home()
		if err != nil {
			return nil, "", err
		}
		dir = filepath.Join(home, ".claude")
	}
	file = filepath.Join(dir, "settings.json")
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, file, nil
	}
	var settings struct {
		Days *float64 `json:"cleanupPeriodDays"`
	}
	if err == nil {
		err = json.Unmarshal(text, &settings)
	}
	return settings.Days, file, err
}

// unarchived counts the files, among those that the filter accepts (nil: all), that are not archived as they stand.
func (s *surroundings) unarchived(filter func(watcher.Found) bool) pending {
	if s.readErr != nil {
		return pending{} // nothing is known then, and that is told
	}
	var found []watcher.Found
	for _, r := range s.scans {
		found = append(found, r.found...)
	}
	return behind(found, (&library{sessions: s.sessions}).archived(), filter)
}

// checkBehind counts what should have been archived by now.
func checkBehind(_ context.Context, s *surroundings) []finding {
	if s.readErr != nil {
		return nil
	}
	all := s.unarchived(nil)
	f := s.behind(all)
	f.Lag = &all.bytes
	return []finding{f}
}

// checkRecords tells how many records were not understood: an agent that changed its format is seen by them.
func checkRecords(_ context.Context, s *surroundings) []finding {
	unknown, sessions := map[string]int{}, map[string]int{}
	for _, e := range s.sessions {
		if e.state.Unknown > 0 {
			unknown[e.Agent] += e.state.Unknown
			sessions[e.Agent]++
		}
	}
	var all []finding
	for _, agent := range slices.Sorted(maps.Keys(unknown)) {
		all = append(all, note("records", "", "%s: %s not understood, in %s; all of it is archived", registry.Title(agent),
			are(unknown[agent], "record", "records"), count(sessions[agent], "session")))
	}
	return all
}

func (s *surroundings) behind(all pending) finding {
	const check = "behind"
	w := s.l.config.Watch
	grace := max(w.MaxWait, s.l.config.Companion.RefreshIdle) + 2*w.ScanInterval
	late := s.unarchived(func(f watcher.Found) bool { return !s.running || s.now.Sub(f.ModTime) > grace })
	told := fmt.Sprintf("%s not fully archived (%s)", are(late.files, "file", "files"), humanize.IBytes(uint64(late.bytes)))
	passed := 0
	for _, r := range s.scans {
		passed += len(slices.DeleteFunc(slices.Clone(r.problems), func(err error) bool { return errors.Is(err, watcher.ErrIrregular) }))
	}
	switch {
	case late.files > 0 && s.running:
		return note(check, "ccd status lists failures; the first pass can take minutes", "%s, the oldest since %s", told, age(late.oldest))
	case late.files > 0:
		return note(check, "ccd run --once, or ccd start", "no daemon runs, and %s", told)
	case all.bytes > 0:
		return ok(check, "%s of recent changes are not archived yet; the last bytes are archived after %s without changes",
			humanize.IBytes(uint64(all.bytes)), s.l.config.Companion.RefreshIdle)
	}
	if passed > 0 {
		return note(check, "", "all other transcripts are archived, but not %s (see the roots)", count(passed, "path"))
	}
	return ok(check, "all transcripts are archived")
}

// skew is by how much clocks of two machines may differ without a word.
const skew = 10 * time.Minute

// checkClock looks for times that cannot be.
func checkClock(_ context.Context, s *surroundings) []finding {
	return []finding{s.clock(buildTime())}
}

func (s *surroundings) clock(built time.Time) finding {
	const check, mend = "clock", "set the clock (timedatectl); ages, purge dates and live sessions go by it"
	if s.now.Before(built.Add(-skew)) {
		return wrong(check, mend, "it is %s by the clock, and this ccd was made at %s", minute(s.now), minute(built))
	}
	ahead, n, newest := s.now.Add(skew), 0, time.Time{}
	look := func(t time.Time) {
		if t.After(ahead) {
			n++
		}
		if t.After(newest) {
			newest = t
		}
	}
	for _, r := range s.scans {
		for _, f := range r.found {
			look(f.ModTime)
		}
	}
	files := n
	for _, e := range s.sessions {
		look(e.state.Last)
	}
	look(s.run.LastPass)
	if n > 0 {
		return note(check, mend, "%s and %s dated in the future, up to %s ahead", count(files, "file"), count(n-files, "session"), short(newest.Sub(s.now)))
	}
	return ok(check, "no file and no record is ahead of it")
}

// buildTime is when the revision was made that this program was built from, zero where that is not known.
func buildTime() time.Time {
	info, known := debug.ReadBuildInfo()
	if !known {
		return time.Time{}
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.time" {
			t, _ := time.Parse(time.RFC3339, s.Value) // another form is as good as none
			return t
		}
	}
	return time.Time{}
}
