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
	"strings"
	"sync/atomic"
	"time"

	"ccd/archive"
	"ccd/internal/atomicfile"
	"ccd/internal/mark"
)

// Backup is a file that is named like a backup of Run.
type Backup struct {
	Path       string
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
		b := Backup{filepath.Join(dir, e.Name()), info.ModTime(), match[1] != ""}
		if b.Time.After(now.Add(time.Minute)) {
			b.Time = time.Time{}
		}
		all = append(all, b)
	}
	slices.SortFunc(all, func(a, b Backup) int { return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(b.Path, a.Path)) })
	return all, nil
}

// backups is the state of making backups. Each scan starts a goroutine that makes one if it is due, unless the last one
// still runs. Only that goroutine touches the directory, because its disk may hang.
type backups struct {
	done       chan error   // nil if no goroutine runs
	progressed atomic.Int64 // unix nanoseconds

	// Used by the goroutine only.
	newest      Backup // of this archive, when it was last checked
	failed      error  // the last failure
	pausedUntil time.Time
}

// waitForBackup waits for the last goroutine after ctx has ended.
func (d *Daemon) waitForBackup() {
	if d.backups.done != nil {
		select {
		case <-d.backups.done:
		case <-time.After(backupGrace):
		}
	}
}

// backUp takes the result of the last goroutine and starts the next.
func (d *Daemon) backUp(ctx context.Context) {
	if d.BackupEvery <= 0 || d.pool.wake == nil || ctx.Err() != nil { // no pass makes one
		return
	}
	b := &d.backups
	select {
	case err := <-b.done:
		b.done = nil
		d.reportBackup(err)
	default:
	}
	switch done := make(chan error, 1); {
	case b.done == nil:
		b.done = done
		b.beat(0, 0)
		ctx = archive.WaitForLock(ctx, func(*archive.LockedError) {}) // only Run's goroutine feeds the watchdog
		go func() { done <- d.keepBackups(ctx, time.Now()) }()
	case time.Since(time.Unix(0, b.progressed.Load())) > backupPatience:
		d.reportBackup(fmt.Errorf("back up archive to %s: no progress for %s", d.BackupDir, backupPatience))
	}
}

// reportBackup shows an error in run.json until the next success, and logs it once.
func (d *Daemon) reportBackup(err error) {
	d.health.mu.Lock()
	defer d.health.mu.Unlock()
	defer d.writeRunInfo()
	last := &d.health.info.Backup
	if err == nil {
		*last = ""
		return
	}
	if *last == "" {
		d.Log.Error("no new backup", "err", err)
	}
	*last = mark.Name(strings.ReplaceAll(err.Error(), "\n", "; "))
}

func (b *backups) beat(int64, int64) { b.progressed.Store(time.Now().UnixNano()) }

// keepBackups makes a backup if the newest one of this archive is too old.
func (d *Daemon) keepBackups(ctx context.Context, now time.Time) error {
	b := &d.backups
	all, err := Backups(d.BackupDir, now)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(f Backup) bool { return f == b.newest || d.Archive.CheckBackup(ctx, f.Path) == nil })
	if b.newest = (Backup{}); i >= 0 {
		b.newest = all[i]
	}
	if now.Sub(b.newest.Time) <= d.BackupEvery || now.Before(b.pausedUntil) {
		return errors.Join(b.newest.incomplete(), b.failed) // a failure also if the newest was made: an old one could not be removed
	}
	made, err := d.makeBackup(ctx, now)
	if errors.Is(err, archive.ErrNotFound) { // there is no archive yet
		return nil
	}
	if err == nil {
		err = d.removeBackups(ctx, made, all)
	}
	if b.failed = err; err != nil {
		b.pausedUntil = now.Add(5 * d.Watch.ScanInterval)
	}
	return errors.Join(made.incomplete(), err)
}

func (f Backup) incomplete() error {
	if !f.Incomplete {
		return nil
	}
	return fmt.Errorf("the archive is damaged, so its newest backup is incomplete: %s", f.Path)
}

// makeBackup makes one. It gets the name of a complete one last, so that a crash cannot leave an incomplete one under it.
func (d *Daemon) makeBackup(ctx context.Context, now time.Time) (Backup, error) {
	if filepath.Dir(d.BackupDir) == filepath.Clean(d.StateDir) { // another one may be on a disk that is not mounted
		_ = os.Mkdir(d.BackupDir, 0o700) // if it fails, CheckRoom does
	}
	if err := d.Archive.CheckRoom(ctx, d.BackupDir); err != nil {
		return Backup{}, err
	}
	_ = atomicfile.Clean(d.BackupDir) // remains of a killed backup; a failure does not matter
	name := filepath.Join(d.BackupDir, now.UTC().Format("ccd-20060102-150405"))
	file := name + ".db"
	if _, err := os.Lstat(file); err == nil {
		return Backup{}, fmt.Errorf("back up archive to %s: %w", file, archive.ErrOverwrite)
	}
	c, err := d.Archive.Backup(ctx, name+".incomplete.db", false, d.backups.beat)
	if err != nil {
		return Backup{}, err
	}
	if err = d.Archive.CheckBackup(ctx, c.File); err == nil && len(c.Damage) > 0 {
		return Backup{Path: c.File, Incomplete: true}, nil
	}
	if err == nil {
		err = os.Rename(c.File, file)
	}
	if err != nil { // the file would not count, and the next scan would make another
		_ = os.Remove(c.File)
	}
	return Backup{Path: file}, err
}

// removeBackups removes the oldest backups of this archive beyond BackupKeep. An incomplete one replaces no complete one, and
// a complete one replaces all incomplete ones.
func (d *Daemon) removeBackups(ctx context.Context, made Backup, older []Backup) (failed error) {
	kept := map[bool]int{made.Incomplete: 1}
	for _, f := range older {
		if d.Archive.CheckBackup(ctx, f.Path) != nil {
			continue
		}
		if kept[f.Incomplete]++; kept[f.Incomplete] > d.BackupKeep || f.Incomplete && !made.Incomplete {
			failed = errors.Join(failed, os.Remove(f.Path))
		}
	}
	return failed
}
