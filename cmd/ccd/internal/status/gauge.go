package status

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"ccd/archive"
	"ccd/cmd/ccd/internal/account"
	"ccd/cmd/ccd/internal/disk"
	"ccd/cmd/ccd/internal/doctor"
	"ccd/cmd/ccd/internal/hook"
	"ccd/cmd/ccd/internal/reader"
	"ccd/daemon"
	"ccd/internal/remote/pulled"
	"ccd/watcher"
)

// Who goes on looking gets another report after reportEvery, and after so many times as long as one takes: it takes a scan of the
// transcripts and a process.
const (
	reportEvery = 30 * time.Second
	reportRest  = 100
)

// Gauge reads a Report.
type Gauge struct {
	l       *reader.Library
	version string // of this ccd
	Wrong   error  // why the configuration cannot be read: l has the defaults then

	last Report // that List returned
	read time.Time
	took time.Duration
}

// NewGauge finds what there is to look at. Nothing is read but the configuration; where that is in error, what needs none is
// read all the same. version is that of this ccd.
func NewGauge(env account.Env, version string) (*Gauge, error) {
	p, wrong := env.Place(true)
	if wrong != nil {
		var err error
		if p, err = env.Defaults().Place(true); err != nil { // there is no home directory either
			return nil, wrong
		}
	}
	l, err := reader.Open(p, false)
	return &Gauge{l: l, Wrong: wrong, version: version}, err
}

// follow looks at the archive of the daemon that runs, where the configuration does not tell.
func (g *Gauge) follow(info daemon.RunInfo) {
	if g.Wrong == nil || info.Archive == "" || info.Archive == g.l.ArchivePath {
		return
	}
	if a, err := archive.Open(info.Archive, archive.Options{ReadOnly: true}); err == nil {
		g.l.Archive, g.l.ArchivePath = a, info.Archive
	}
}

// Read tells how things are now. What cannot be read stands under degraded; err is only for what ended ctx.
func (g *Gauge) Read(ctx context.Context) (Report, error) {
	live := doctor.Know(ctx, g.l.Place, g.version, g.Wrong, nil)
	info, running := live.Run, live.Running
	if running {
		g.follow(info)
	}
	out := Report{Live: []Session{}}
	size, archiveErr := g.load(ctx, &out)
	if ctx.Err() != nil {
		return Report{}, context.Cause(ctx)
	}
	out.Damage = reader.DamagesOf(g.l.Damage)
	out.Running, out.This = running, g.version
	out.Agents = hook.ReadLog(g.l.StateDir).Outcomes
	out.Degraded, out.Roots, out.Errors = []string{}, []watcher.RootHealth{}, []daemon.Failure{}
	if p, err := pulled.ReadPush(filepath.Join(g.l.StateDir, pulled.Dir)); err == nil && !p.Tried.IsZero() {
		out.Remote = &p
	}
	out.Errors = append(out.Errors, info.Errors...) // where no daemon runs, those of the last one
	lag, strange := g.lag(ctx, archiveErr)
	out.LagBytes = lag
	if g.Wrong == nil {
		out.Config = g.l.Config.Path()
	}
	if running {
		out.run(info)
	} else {
		out.Roots = append(out.Roots, g.roots()...)
	}
	if running || !live.Service.Active {
		live.Service.Places = nil // only a service that runs elsewhere explains why none runs here
	}
	service := live.Service
	out.Service = Service{service.Installed, service.Enabled, service.Active, service.Detail}
	out.ShouldRun = out.Service.Installed && len(service.Places) == 0
	if errors.As(archiveErr, new(*archive.DamageError)) && len(out.Damage) == 0 {
		out.Damage = append(out.Damage, reader.Damage{Cause: archiveErr.Error()})
	}
	out.Archive = Archive{Path: g.l.ArchivePath, Bytes: size.File, Free: size.Free, Raw: size.Raw, Max: int64(g.l.Config.Archive.MaxSize)}
	live.Size, live.Unread, live.Damage, live.Strange = size, archiveErr, g.l.Damage, strange
	out.Archive.Space = max(0, live.Free)
	if out.Archive.unread = archiveErr != nil; out.Archive.unread {
		out.Sessions = info.Sessions
	}
	out.Findings = live.Findings()
	for _, f := range doctor.Problems(out.Findings) {
		out.Degraded = append(out.Degraded, f.String())
	}
	return out, nil
}

// load reads the archive, and counts its sessions.
func (g *Gauge) load(ctx context.Context, out *Report) (archive.Size, error) {
	if err := g.l.Load(ctx); err != nil {
		return archive.Size{}, err
	}
	size, err := g.l.Archive.Size(ctx)
	if err == nil {
		out.count(g.l.Sessions)
		out.Forgotten = len(g.l.Forgotten())
	}
	return size, err
}

// roots are the watched directories, of which no daemon tells more.
func (g *Gauge) roots() (all []watcher.RootHealth) {
	for _, r := range g.l.Roots {
		all = append(all, watcher.RootHealth{Root: r, Present: disk.Exists(r.Path)})
	}
	return all
}

// List is the newest report, and all sessions as lists show them: main ones newest first, each with its sub-agents below it. The sessions
// are read whenever the archive has changed. It fails only if ctx ends.
func (g *Gauge) List(ctx context.Context) (Report, []Session, error) {
	_, running, _ := daemon.ReadRun(g.l.StateDir) // valid in any case
	if g.read.IsZero() || running != g.last.Running || time.Since(g.read) > max(reportEvery, reportRest*g.took) {
		begun := time.Now()
		last, err := g.Read(ctx)
		if err != nil {
			return last, nil, err
		}
		g.last, g.read, g.took = last, time.Now(), time.Since(begun)
	} else if changed, _ := g.l.Changed(); changed {
		_ = g.l.Load(ctx) // the next report says why it could not
	}
	return g.last, Rows(Families(g.l.Sessions, true)), context.Cause(ctx)
}

// lag is how many bytes of the watched transcripts are not archived, nil where that cannot be told, and what doctor.Scan finds strange.
func (g *Gauge) lag(ctx context.Context, err error) (bytes *int64, strange []string) {
	if err != nil || g.Wrong != nil {
		return nil, nil
	}
	found, err := disk.Bounded(ctx, disk.Patience, func(ctx context.Context) (found []watcher.Found, _ error) {
		found, strange = doctor.Scan(ctx, g.l.Place, g.l.Watch.Roots...)
		return found, nil
	})
	if err != nil {
		return nil, nil
	}
	n := reader.Behind(found, g.l.Sessions, nil).Bytes
	return &n, strange
}
