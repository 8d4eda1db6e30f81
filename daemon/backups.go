package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync/atomic"
	"time"

	"ccd/archive"
	"ccd/internal/atomicfile"
	"ccd/internal/mark"
)

// Backup is a file that is named like a backup of Run.
type Backup struct {
	Path       string
	Size       int64     // bytes
	Time       time.Time // of its last change; zero if that is in the future, so that a wrong clock prevents no backup
	Incomplete bool      // made of a damaged archive: it has what was intact
}

const (
	backupPatience = 10 * time.Minute // without progress, after which a backup counts as hanging
	backupGrace    = 3 * time.Second  // after ctx for a backup to end; one that hangs is abandoned
)

// backupName matches the names of backups. The time in them is UTC.
var backupName = regexp.MustCompile(`^ccd-\d{8}-\d{6}(\.incomplete)?\.db$`)

// Backups returns the files in dir that are named like backups, the newest first; none if dir does not exist. They may
// belong to another archive: see archive.CheckBackup.
func Backups(dir string, now time.Time) (all []Backup, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list backups: %w", err)
	}
	for _, e := range entries {
		match := backupName.FindStringSubmatch(e.Name())
		info, err := e.Info()
		if match == nil || err != nil || !info.Mode().IsRegular() {
			continue
		}
		b := Backup{filepath.Join(dir, e.Name()), info.Size(), info.ModTime(), match[1] != ""}
		if b.Time.After(now.Add(time.Minute)) {
			b.Time = time.Time{}
		}
		all = append(all, b)
	}
	slices.SortFunc(all, func(a, b Backup) int { return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(b.Path, a.Path)) })
	return all, nil
}

// backups makes backups. Each scan starts a goroutine that makes one if it is due, unless the last one still runs. Only
// that goroutine touches the directory, because its disk may hang.
type backups struct {
	*Daemon
	busy       bool
	done       chan error
	progressed atomic.Int64 // unix nanoseconds

	// Used by the goroutine only.
	known       map[Backup]bool // whether it is of this archive
	failures    int             // successive ones
	failed      error           // the last one
	pausedUntil time.Time       // no backup is made before
}

// startBackups prepares the making of backups. The returned function waits for the last goroutine after ctx has ended.
func (d *Daemon) startBackups() (wait func()) {
	if d.BackupEvery <= 0 {
		return func() {}
	}
	b := &backups{Daemon: d, done: make(chan error, 1), known: map[Backup]bool{}}
	d.backups = b
	return func() {
		if b.busy {
			select {
			case <-b.done:
			case <-time.After(backupGrace):
			}
		}
		d.backups = nil
	}
}

// backUp takes the result of the last goroutine and starts the next.
func (d *Daemon) backUp(ctx context.Context) {
	b := d.backups
	if b == nil {
		return
	}
	if b.busy {
		select {
		case err := <-b.done:
			b.busy = false
			d.reportBackup(err)
		default:
			if idle := time.Since(time.Unix(0, b.progressed.Load())); idle > backupPatience {
				d.reportBackup(fmt.Errorf("back up archive to %s: no progress for %s", d.BackupDir, backupPatience))
			}
			return
		}
	}
	b.busy = true
	b.beat(0, 0)
	ctx = archive.WaitForLock(ctx, func(*archive.LockedError) {}) // the watchdog is fed by Run's goroutine only
	go func() { b.done <- b.run(ctx, time.Now()) }()
}

// reportBackup shows an error in run.json until the next success, and logs it once.
func (d *Daemon) reportBackup(err error) {
	if errors.Is(err, context.Canceled) {
		return
	}
	d.health.mu.Lock()
	defer d.health.mu.Unlock()
	last := &d.health.info.Backup
	if err == nil {
		*last = ""
	} else {
		if *last == "" {
			d.Log.Error("no new backup", "err", err)
		}
		*last = mark.Name(err.Error())
	}
	d.writeRunInfo()
}

func (b *backups) beat(int64, int64) { b.progressed.Store(time.Now().UnixNano()) }

// run makes a backup if the newest one of this archive is too old. After a failure it pauses longer and longer.
func (b *backups) run(ctx context.Context, now time.Time) error {
	all, err := Backups(b.BackupDir, now)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(f Backup) bool {
		if _, ok := b.known[f]; !ok {
			b.known[f] = b.Archive.CheckBackup(ctx, f.Path) == nil
		}
		return b.known[f]
	})
	if i >= 0 && now.Sub(all[i].Time) <= b.BackupEvery {
		return errors.Join(all[i].incomplete(), b.failed) // an old one could not be removed
	}
	if now.Before(b.pausedUntil) {
		return b.failed
	}
	clear(b.known)
	made, err := b.make(ctx, now)
	if errors.Is(err, archive.ErrNotFound) { // there is no archive yet
		return nil
	}
	if err == nil {
		b.Log.Info("backup made", "file", made.Path, "incomplete", made.Incomplete)
		err = b.removeOld(ctx, made, all)
	}
	if b.failed = err; err != nil {
		b.pausedUntil = now.Add(b.Watch.ScanInterval << min(b.failures, maxPause))
		b.failures++
		return err
	}
	b.failures = 0
	return made.incomplete()
}

func (f Backup) incomplete() error {
	if f.Incomplete {
		return fmt.Errorf("the archive is damaged, and its newest backup, %s, has only what is intact", f.Path)
	}
	return nil
}

// make makes a backup. It gets the name of a complete one last, so that a crash cannot leave an incomplete one under it.
func (b *backups) make(ctx context.Context, now time.Time) (made Backup, err error) {
	if filepath.Dir(b.BackupDir) == filepath.Clean(b.StateDir) { // another one may be on a disk that is not mounted
		if err := os.Mkdir(b.BackupDir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return made, fmt.Errorf("back up archive: %w", err)
		}
	}
	if err := b.Archive.CheckRoom(ctx, b.BackupDir); err != nil {
		return made, err
	}
	_ = atomicfile.Clean(b.BackupDir) // remains of a killed backup; a failure does not matter
	name := filepath.Join(b.BackupDir, now.UTC().Format("ccd-20060102-150405"))
	made = Backup{Path: name + ".incomplete.db", Incomplete: true}
	for _, path := range []string{made.Path, name + ".db"} {
		if _, err := os.Lstat(path); err == nil {
			return made, fmt.Errorf("back up archive to %s: %w", path, fs.ErrExist)
		}
	}
	c, err := b.Archive.Backup(ctx, made.Path, false, b.beat)
	if err != nil {
		return made, err
	}
	err = b.Archive.CheckBackup(ctx, made.Path) // otherwise the next scan would make another
	if err == nil && len(c.Damage) == 0 {
		err = os.Rename(made.Path, name+".db")
		made = Backup{Path: name + ".db"}
	}
	if err != nil {
		_ = os.Remove(c.File) // an earlier error is being returned
	}
	return made, err
}

// removeOld removes the oldest backups of this archive beyond BackupKeep. An incomplete one replaces no complete one, and
// a complete one replaces all incomplete ones.
func (b *backups) removeOld(ctx context.Context, made Backup, older []Backup) (failed error) {
	kept := map[bool]int{made.Incomplete: 1}
	for _, f := range older {
		if b.Archive.CheckBackup(ctx, f.Path) != nil {
			continue
		}
		if kept[f.Incomplete]++; kept[f.Incomplete] <= b.BackupKeep && (made.Incomplete || !f.Incomplete) {
			continue
		}
		if err := os.Remove(f.Path); err != nil {
			failed = errors.Join(failed, fmt.Errorf("remove old backup: %w", err))
		} else {
			b.Log.Info("old backup removed", "file", f.Path)
		}
	}
	return failed
}
