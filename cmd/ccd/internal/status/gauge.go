package status

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"ccd/archive"
	"ccd/cmd/ccd/internal/account"
	"ccd/cmd/ccd/internal/disk"
	"ccd/cmd/ccd/internal/doctor"
	"ccd/cmd/ccd/internal/hook"
	"ccd/cmd/ccd/internal/reader"
	"ccd/daemon"
	"ccd/internal/ownfile"
	"ccd/internal/remote/pulled"
	"ccd/packaging"
	"ccd/watcher"
)

// askEvery is how often the service manager is asked by one who goes on looking: it takes a process each time.
const askEvery = 30 * time.Second

// scanRest is how many times as long as a scan of the transcripts the next one waits, so that a view that stays open takes
// 1 % of a processor for it.
const scanRest = 100

// Gauge reads a Report. Read again, it opens only what has changed: run.json and the archive by their stat, and
// asks the service manager only when the daemon came or went, or now and then.
type Gauge struct {
	l       *reader.Library
	version string // of this ccd
	Wrong   error  // why the configuration cannot be read: l has the defaults then
	size    archive.Size
	count   Report // what the sessions make of it
	service packaging.State
	asked   time.Time
	running bool

	behind   *int64   // what is not archived, as of scanned
	strange  []string // see doctor.Scan, as of scanned
	scanned  time.Time
	scanTook time.Duration

	reads int // how often the archive was read
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
	info, running, runErr := daemon.ReadRun(g.l.StateDir)
	if running {
		g.follow(info)
	}
	archiveErr := g.readArchive(ctx)
	if ctx.Err() != nil {
		return Report{}, context.Cause(ctx)
	}
	out := g.count
	out.Damage = reader.DamagesOf(g.l.Damage)
	out.Live = slices.DeleteFunc(append([]Session{}, out.Live...), func(s Session) bool { return time.Since(s.LastAt()) >= liveWithin })
	out.Running, out.This = running, g.version
	out.Agents = hook.ReadLog(g.l.StateDir).Outcomes
	out.Degraded, out.Roots, out.Errors = []string{}, []watcher.RootHealth{}, []daemon.Failure{}
	if p, err := pulled.ReadPush(filepath.Join(g.l.StateDir, pulled.Dir)); err == nil && !p.Tried.IsZero() {
		out.Remote = &p
	}
	out.Errors = append(out.Errors, info.Errors...) // where no daemon runs, those of the last one
	out.LagBytes = g.lag(ctx, archiveErr)
	out.Config = g.l.Config.Path()
	if g.Wrong != nil {
		out.Config = ""
	}
	if running {
		out.run(info)
	} else {
		for _, r := range g.l.Roots {
			out.Roots = append(out.Roots, watcher.RootHealth{Root: r, Present: disk.Exists(r.Path)})
		}
	}
	g.ask(ctx, running)
	out.Service = Service{g.service.Installed, g.service.Enabled, g.service.Active, g.service.Detail}
	out.ShouldRun = out.Service.Installed && len(g.service.Places) == 0
	if errors.As(archiveErr, new(*archive.DamageError)) && len(out.Damage) == 0 {
		out.Damage = append(out.Damage, reader.Damage{Cause: archiveErr.Error()})
	}
	out.Archive = Archive{Path: g.l.ArchivePath, Bytes: g.size.File, Free: g.size.Free, Raw: g.size.Raw, Max: int64(g.l.Config.Archive.MaxSize)}
	live := doctor.Live{
		Place: g.l.Place, Version: g.version, Now: time.Now(), Wrong: g.Wrong, Run: info, Running: running, RunErr: runErr,
		Service: g.service, Size: g.size, Free: -1, Unread: archiveErr, Damage: g.l.Damage, Strange: g.strange,
	}
	if free, err := ownfile.Free(disk.Existing(filepath.Dir(g.l.ArchivePath))); err == nil {
		out.Archive.Space, live.Free = free, free
	}
	if out.Archive.unread = archiveErr != nil; out.Archive.unread {
		out.Sessions = info.Sessions
	}
	out.Findings = live.Findings()
	for _, f := range doctor.Problems(out.Findings) {
		out.Degraded = append(out.Degraded, f.String())
	}
	return out, nil
}

// List is Read with all sessions as lists show them: main ones newest first, each with its sub-agents below it.
func (g *Gauge) List(ctx context.Context) (Report, []Session, error) {
	out, err := g.Read(ctx)
	if err != nil {
		return out, nil, err
	}
	return out, Rows(Families(g.l.Sessions, true)), nil
}

// readArchive reads what the archive knows of each session, where it has changed.
func (g *Gauge) readArchive(ctx context.Context) (err error) {
	if changed, _ := g.l.Changed(); !changed {
		return nil
	}
	g.reads++
	if err := g.l.Load(ctx); err != nil {
		return err
	}
	if g.size, err = g.l.Archive.Size(ctx); err != nil {
		return err
	}
	g.count = Report{Live: []Session{}}
	g.count.count(g.l.Sessions)
	g.count.Forgotten = len(g.l.Forgotten())
	return nil
}

// lag is how many bytes of the watched transcripts are not archived, nil where that cannot be told.
func (g *Gauge) lag(ctx context.Context, err error) *int64 {
	if err != nil || g.Wrong != nil {
		return nil
	}
	if g.behind != nil && time.Since(g.scanned) < scanRest*g.scanTook {
		return g.behind
	}
	begun := time.Now()
	var strange []string
	found, err := disk.Bounded(ctx, disk.Patience, func(ctx context.Context) (found []watcher.Found, _ error) {
		found, strange = doctor.Scan(ctx, g.l.Place, g.l.Watch.Roots...)
		return found, nil
	})
	if err != nil {
		return nil
	}
	bytes := reader.Behind(found, g.l.Sessions, nil).Bytes
	g.strange = strange
	g.behind, g.scanned, g.scanTook = &bytes, time.Now(), time.Since(begun)
	return g.behind
}

// ask asks the service manager.
func (g *Gauge) ask(ctx context.Context, running bool) {
	if running == g.running && time.Since(g.asked) < askEvery {
		return
	}
	g.running, g.asked, g.service = running, time.Now(), packaging.State{}
	if _, state, err := g.l.ServiceState(ctx, nil); err == nil {
		g.service = state
		if running || !state.Active {
			g.service.Places = nil // only a service that runs elsewhere explains why none runs here
		}
	}
}
