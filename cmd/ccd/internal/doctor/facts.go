package doctor

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ccd/archive"
	"ccd/cmd/ccd/internal/account"
	"ccd/cmd/ccd/internal/disk"
	"ccd/cmd/ccd/internal/reader"
	"ccd/daemon"
	"ccd/internal/ownfile"
	"ccd/internal/transcript"
	"ccd/packaging"
	"ccd/watcher"
)

// facts is the input of the checks, read once. No check changes it.
type facts struct {
	Facts
	doctor   Doctor
	scans    []scan // one per root
	sessions []*reader.Entry
}

// scan is one watched root.
type scan struct {
	watcher.Root
	err      error // why the root cannot be read; fs.ErrNotExist if it does not exist yet
	found    []watcher.Found
	problems []error
	strange  []string // see Scan
}

// gather reads what the checks need, each part with a time limit. It opens nothing for writing.
func (d Doctor) gather(ctx context.Context, p *account.Place, bad error) *facts {
	f := &facts{Facts: Know(ctx, p, d.Version, bad, d.Out), doctor: d}
	for _, r := range p.Roots {
		s, err := disk.Bounded(ctx, disk.Patience, func(ctx context.Context) (scan, error) { return scanRoot(ctx, p, r), nil })
		if err != nil {
			s = scan{Root: r, err: err}
		}
		f.scans, f.Strange = append(f.scans, s), append(f.Strange, s.strange...)
	}
	d.Progress(20, 100)
	if bad == nil {
		f.readArchive(ctx)
	}
	d.Progress(40, 100)
	return f
}

// Know returns what the daemon, the disk and the service manager say now of an account, each within a time limit. wrong is why the
// configuration cannot be read. The archive is left to the caller.
func Know(ctx context.Context, p *account.Place, version string, wrong error, out io.Writer) Facts {
	f := Facts{Place: p, Version: version, Now: time.Now(), Wrong: wrong, Free: -1}
	_, f.RunErr = disk.Bounded(ctx, disk.Patience, func(context.Context) (_ struct{}, err error) {
		f.Run, f.Running, err = daemon.ReadRun(p.StateDir)
		return struct{}{}, err
	})
	file := p.ArchivePath
	if wrong != nil && f.Running { // the daemon knows better than the defaults
		file = cmp.Or(f.Run.Archive, file)
	}
	if free, err := ownfile.Free(disk.Existing(filepath.Dir(file))); err == nil {
		f.Free = free
	}
	type asked struct {
		s  *packaging.Service
		st packaging.State
	}
	got, err := disk.Bounded(ctx, disk.Patience, func(ctx context.Context) (a asked, err error) {
		a.s, a.st, err = p.ServiceState(ctx, out)
		return a, err
	})
	f.Manager, f.Service, f.Unasked = got.s, got.st, err
	return f
}

func scanRoot(ctx context.Context, p *account.Place, r watcher.Root) scan {
	s, o := scan{Root: r}, p.Watch
	info, err := os.Stat(r.Path)
	if err == nil && !info.IsDir() {
		err = errNoDirectory
	}
	if s.err = err; err != nil {
		return s
	}
	o.Roots = []watcher.Root{r}
	s.found, s.problems = watcher.Scan(ctx, o)
	_, s.strange = Scan(ctx, p, r) // its errors would be of files that are no transcripts, too
	return s
}

// Scan walks some roots once and returns the transcripts, and the files that look like transcripts and lie or are named otherwise.
func Scan(ctx context.Context, p *account.Place, roots ...watcher.Root) (found []watcher.Found, strange []string) {
	o := p.Watch
	o.Roots = roots
	other := func(r watcher.Root, path string) bool {
		_, known := p.Agents.Find(r.Agent, r.Path, path)
		return !known && looksRead(path)
	}
	o.Match = func(r watcher.Root, path string) bool { return p.Watch.Match(r, path) || other(r, path) }
	found, _ = watcher.Scan(ctx, o)
	found = slices.DeleteFunc(found, func(f watcher.Found) bool {
		if !other(f.Root, f.Path) {
			return false
		}
		if ctx.Err() == nil && isTranscript(ctx, p, f.Path) {
			strange = append(strange, f.Path)
		}
		return true
	})
	return found, strange
}

// looksRead reports whether a file's name is like that of a transcript.
func looksRead(path string) bool {
	plain, _ := transcript.Unpacked(path)
	inside := strings.Contains(filepath.ToSlash(path), "/agent-transcripts/") // Cursor's oldest are plain text
	return strings.HasSuffix(plain, ".jsonl") || strings.HasSuffix(plain, ".json") || strings.HasSuffix(path, ".txt") && inside
}

// isTranscript reports whether a file begins as an agent's transcript does.
func isTranscript(ctx context.Context, p *account.Place, path string) bool {
	head := beginning(ctx, path)
	if strings.HasSuffix(path, ".txt") {
		return bytes.HasPrefix(head, []byte("user:"))
	}
	wrote, _, ok := p.Agents.Sniff(head)
	return ok && wrote != transcript.Messages
}

// beginning returns the first bytes of a file, of a packed one unpacked; nil if it cannot be read.
func beginning(ctx context.Context, path string) []byte {
	const enough = 16 << 10
	s := transcript.Session{Path: path}
	_, s.Packed = transcript.Unpacked(path)
	for seg, err := range watcher.Tail(ctx, s, transcript.Cursor{}, watcher.TailOptions{Rest: true, Torn: true}) {
		if err != nil {
			return nil
		}
		return bytes.Clone(seg.Data[:min(len(seg.Data), enough)])
	}
	return nil
}

// readArchive reads the archive's size and its sessions.
func (f *facts) readArchive(ctx context.Context) {
	if f.Size, f.Unread = disk.Bounded(ctx, disk.Patience, f.Archive.Size); f.locked() {
		return
	}
	l, err := disk.Bounded(ctx, disk.Patience, func(ctx context.Context) (*reader.Library, error) {
		l, err := reader.Open(f.Place, false)
		if err == nil {
			err = l.Load(ctx)
		}
		return l, err
	})
	if l != nil {
		f.sessions, f.Damage = l.Sessions, l.Damage
	}
	if f.Unread == nil {
		f.Unread = err
	}
}

// locked reports whether the archive could not be read because another process holds its lock or its disk hangs.
func (l Facts) locked() bool {
	return disk.Slow(l.Unread) || errors.As(l.Unread, new(*archive.LockedError))
}
