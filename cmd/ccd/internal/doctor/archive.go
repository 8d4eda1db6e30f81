package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/dustin/go-humanize"

	"ccd/archive"
	"ccd/cmd/ccd/internal/account"
	"ccd/cmd/ccd/internal/disk"
	"ccd/cmd/ccd/internal/hook"
	"ccd/cmd/ccd/internal/install"
	"ccd/cmd/ccd/internal/reader"
	"ccd/internal/mark"
	"ccd/internal/words"
	"ccd/watcher"
)

// unread says why the archive cannot be read.
func (l Facts) unread() Finding {
	const check = "archive"
	path := l.ArchivePath
	var locked *archive.LockedError
	var damage *archive.DamageError
	switch {
	case errors.As(l.Unread, &locked): // a healthy process holds the lock only for a moment
		return wrong("lock", locked.Hint(), "%v", locked)
	case l.locked():
		return wrong("lock", "check the disk: ls "+words.Shell(filepath.Dir(path)), "%v; the file system does not respond", l.Unread)
	case errors.Is(l.Unread, archive.ErrNewer):
		return wrong(check, "use the ccd that wrote it", "%v", l.Unread)
	case errors.Is(l.Unread, fs.ErrPermission):
		return wrong(check, "run ccd as the owner of the file: ls -l "+words.Shell(path), "%v", l.Unread)
	case errors.As(l.Unread, &damage):
		return wrong(check, damage.Hint(), "%v", l.Unread)
	}
	return wrong(check, "check the disk: ls "+words.Shell(filepath.Dir(path)), "%v", l.Unread)
}

// archive checks that the archive is not locked, that its index can be read and that it has room to grow.
func (l Facts) archive() (all []Finding) {
	const check = "archive"
	path := l.ArchivePath
	switch {
	case l.Unread != nil:
		return one(l.unread())
	case l.Running && l.Run.Sessions > 0 && !l.Run.LastPass.IsZero() && !disk.Exists(path):
		return one(wrong(check, "ccd archive import BACKUP adds what only a backup has", "%s was removed; all existing transcripts are archived again at the next scan", path))
	case l.Size.File == 0:
		return []Finding{ok(check, "%s: not created yet; `ccd run` creates it", path)}
	}
	const fix = "ccd doctor --fix repairs it from transcripts; ccd archive verify lists all damage"
	for _, d := range l.Damage {
		all = append(all, wrong(check, fix, "%v", d))
	}
	all = few(check, "in the archive", all)
	if found := l.limit(); found.State != "ok" {
		all = append(all, found)
	}
	if dir := filepath.Dir(path); dir != l.StateDir {
		if kind := watcher.EventlessFS(disk.Existing(dir)); kind != "" {
			all = append(all, note(check, "set archive.path to a local disk", "%s is on %s: file locks and memory mapping are unreliable there", path, kind))
		}
	}
	if len(all) > 0 {
		return all
	}
	return []Finding{ok(check, "%s: %s for %s of transcripts; `ccd archive verify` checks its contents", path, humanize.IBytes(uint64(l.Size.File)), humanize.IBytes(uint64(l.Size.Raw)))}
}

// Repaired returns what was repaired, with bytes from "transcripts" or another archive.
func Repaired(h archive.Repaired, from string) Finding {
	done := fmt.Sprintf("%s repaired, %s stored again from %s", words.Count(h.Found-min(h.Found, len(h.Left)), "damaged place"), humanize.IBytes(uint64(h.Bytes)), from)
	if h.Aside != "" {
		done += "; the archive was rebuilt, the old file is " + h.Aside
	}
	f := Finding{Check: "archive", State: "ok", Detail: done, Fixed: true}
	if len(h.Left) > 0 {
		f.State, f.Detail = "wrong", fmt.Sprintf("%s; %s cannot be repaired from %s", done, words.Count(len(h.Left), "damaged place"), from)
		f.Fix = "ccd archive import BACKUP"
	}
	return f
}

// unarchived counts the files that the filter accepts (nil: all) and that are not fully archived.
func (f *facts) unarchived(filter func(watcher.Found) bool) reader.Pending {
	if f.Unread != nil {
		return reader.Pending{} // checkArchive reports it
	}
	var found []watcher.Found
	for _, r := range f.scans {
		found = append(found, r.found...)
	}
	return reader.Behind(found, f.sessions, filter)
}

// unread returns how many paths the scans could not read.
func (f *facts) unread() (skipped int) {
	for _, r := range f.scans {
		for _, err := range r.problems {
			if !errors.Is(err, watcher.ErrIrregular) {
				skipped++
			}
		}
	}
	return skipped
}

// checkBehind counts the transcripts that should be archived by now.
func checkBehind(_ context.Context, f *facts) []Finding {
	const check = "lag"
	if f.Unread != nil {
		return nil
	}
	all := f.unarchived(nil)
	grace := max(f.Watch.MaxWait, f.Watch.RefreshIdle) + 2*f.Watch.ScanInterval
	late := f.unarchived(func(t watcher.Found) bool { return !f.Running || f.Now.Sub(t.ModTime) > grace })
	behind := fmt.Sprintf("%s not fully archived (%s)", words.Are(late.Files, "file", "files"), humanize.IBytes(uint64(late.Bytes)))
	skipped := f.unread()
	found := ok(check, "all transcripts are archived")
	switch {
	case late.Files > 0 && f.Running:
		found = note(check, "ccd status lists failures; the first pass can take minutes", "%s, the oldest for %s", behind, words.Age(late.Oldest))
	case late.Files > 0:
		found = note(check, "ccd run --once", "no daemon is running; %s", behind)
	case all.Bytes > 0:
		found = ok(check, "%s of recent changes not archived yet; ccd archives the last bytes after %s without changes",
			humanize.IBytes(uint64(all.Bytes)), f.Config.Companion.RefreshIdle)
	case skipped > 0:
		found = note(check, "", "%s not archived (see the roots above); all others are archived", words.Count(skipped, "path"))
	}
	if len(f.Strange) > 0 && found.State == "ok" && all.Bytes == 0 {
		found = ok(check, "all transcripts that ccd reads are archived")
	}
	found.Lag = &all.Bytes
	return one(found)
}

// strange names files that ccd does not read because of their place or form.
func (l Facts) strange() []Finding {
	if len(l.Strange) == 0 {
		return nil
	}
	return one(note("lag", "move them to where the agent writes its transcripts, or archive copies of them yourself",
		"not read, because of the place or the form: %s with what looks like a transcript, first %s", words.Count(len(l.Strange), "file"), mark.Inline(l.Strange[0], 300)))
}

// checkHomes names homes of agents that hooks reported and ccd does not watch.
func checkHomes(_ context.Context, f *facts) (all []Finding) {
	homes := hook.ReadLog(f.StateDir).Homes
	for _, agent := range slices.Sorted(maps.Keys(homes)) {
		for _, dir := range homes[agent] {
			if slices.ContainsFunc(f.scans, func(r scan) bool { return r.Agent == agent && r.Path == dir }) {
				continue // watched by now
			}
			all = append(all, note("homes", "add it to "+agent+" below [watch.roots]", "%s also writes transcripts below %s, which ccd does not watch", f.Agents.Title(agent), mark.Inline(dir, 300)))
		}
	}
	return few("homes", "that ccd does not watch", all)
}

// checkRecords counts records that were not read in whole and those of an unknown type, which show that an agent has changed
// its format.
func checkRecords(_ context.Context, f *facts) []Finding {
	const check = "records"
	unknown, sessions, opaque := map[string]int{}, map[string]int{}, map[string]int{}
	var all []Finding
	for _, e := range f.sessions {
		if e.Kept.Unread > 0 {
			place := fmt.Sprintf("%s#%d", mark.Name(e.ID), e.Kept.FirstUnread)
			all = append(all, note(check, "ccd restore --raw "+words.Argument(place)+" prints it", "%s could not be read in whole, first %s; archived like all others",
				words.Count(e.Kept.Unread, "record"), place))
		}
		opaque[e.Agent] += e.Kept.Opaque
		if e.Kept.Unknown > 0 {
			unknown[e.Agent] += e.Kept.Unknown
			sessions[e.Agent]++
		}
	}
	all = few(check, "with records that could not be read", all)
	for _, agent := range slices.Sorted(maps.Keys(unknown)) {
		all = append(all, note(check, "", "%s: %s of an unknown type, in %s; they are archived like all others", f.Agents.Title(agent),
			words.Are(unknown[agent], "record", "records"), words.Count(sessions[agent], "session")))
	}
	for _, agent := range slices.Sorted(maps.Keys(opaque)) {
		if n := opaque[agent]; n > 0 {
			all = append(all, note(check, "", "%s: %s that ccd cannot look into: their scripts call tools, and no record says which or how; they are archived like all others",
				f.Agents.Title(agent), words.Count(n, "call")))
		}
	}
	return all
}

// checkPurge warns of transcripts that an agent will remove before they are archived.
func checkPurge(_ context.Context, f *facts) []Finding {
	const check = "purge"
	days, file, err := claudeKeeps(f.Env)
	switch {
	case err != nil:
		return one(note(check, "fix "+words.Shell(file), "cannot read the settings of claude-code: %v", err))
	case days < 1:
		return one(wrong(check, `set "cleanupPeriodDays" in `+file+" to 1 or more",
			"claude-code keeps no transcripts (cleanupPeriodDays is %v), so ccd can archive none", days))
	}
	period := time.Duration(min(days, 36500) * 24 * float64(time.Hour))
	late := f.unarchived(func(t watcher.Found) bool {
		return t.Root.Agent == "claude-code" && f.Now.Sub(t.ModTime) > period-min(3*24*time.Hour, period/4)
	})
	after, removed := words.Count(int(min(days, 36500)), "day"), words.Are(late.Files, "of them", "of them")
	switch {
	case late.Files == 0:
		return one(ok(check, "claude-code removes transcripts after %s; the archive keeps them", after))
	case f.Running && f.Run.LastPass.IsZero():
		return one(note(check, "", "claude-code removes transcripts after %s: %s not archived yet; the daemon's first pass is still running", after, removed))
	}
	fix := "ccd run --once"
	if f.Running {
		fix = "ccd status lists failures"
	}
	return one(wrong(check, fix, "claude-code removes transcripts after %s: %s not fully archived and may be removed soon", after, removed))
}

// claudeKeeps returns after how many days Claude Code removes transcripts, and the file of its settings, which may say it.
func claudeKeeps(e account.Env) (days float64, file string, err error) {
	home, err := e.Home()
	if err != nil {
		return 0, "", err
	}
	file = filepath.Join(install.Connection("claude-code").Dir(e.Getenv, home), "settings.json")
	settings := struct {
		Days float64 `json:"cleanupPeriodDays"`
	}{30} // its default
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &settings)
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return settings.Days, file, err
}
