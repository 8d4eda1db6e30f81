package install

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"ccd/archive"
	"ccd/cmd/ccd/internal/disk"
	"ccd/daemon"
	"ccd/internal/config"
	"ccd/internal/remote/pulled"
	"ccd/internal/words"
)

// Remains lists everything that ccd has for one account. Every path is absolute.
type Remains struct {
	OnlyHere int // sessions that exist only in the archive

	service  string
	settings settings

	companions []string
	strayDirs  []string // with unfinished companions
	emptied    []string // directories of ccd's tree of companions, inner ones first

	archive  []string // its file, its locks, and copies of it
	bytes    int64    // of them
	sessions int
	state    string   // "" if there is none
	own      []string // files of ccd in it
	config   string   // "" if there is none
	logs     []string // if log.file names one
	around   []string // directories to remove if they are empty then, with those above them up to the home directory

	keeps      []string // files that look like ccd's but are not, or that the user named
	problems   []string // what could not be read
	unreadable []string // companions that cannot be read; while there are any, the archive, the state and the configuration are kept
}

// settings is what ccd has in agents' own files.
type settings struct {
	plans   []*Plan
	backups []string // backups of those files from before ccd
	dirs    []string // around those files
	unread  []string // files that cannot be read
}

// Find finds everything that a purge removes. It changes nothing.
func (p Purge) Find(ctx context.Context) (*Remains, error) {
	r := &Remains{service: "not installed"}
	switch st, err := p.Service.Status(ctx); {
	case err != nil:
		return nil, err
	case st.OtherHome != "":
		r.service = "kept: it belongs to another home, " + st.OtherHome
	case st.Installed:
		r.service = "installed, " + st.Detail
	}
	r.settings = p.findSettings()
	if err := p.find(ctx, r); err != nil {
		return nil, err
	}
	var err error
	r.OnlyHere, err = OnlyHere(ctx, p.Library)
	return r, err
}

// find finds everything except the service and the agents' settings.
func (p Purge) find(ctx context.Context, r *Remains) error {
	for _, find := range []func(*Remains) error{p.apart, p.findArchive, p.findState, p.findConfig} {
		if err := find(r); err != nil {
			return err
		}
	}
	p.findCompanions(ctx, r)
	return ctx.Err()
}

func (p Purge) findSettings() (s settings) {
	for _, agent := range Agents() {
		plan, err := p.Agents.Uninstall(agent)
		if err != nil { // a file that cannot be read does not stop the rest
			s.unread = append(s.unread, err.Error()+": ccd's entries in it stay")
		} else {
			s.plans = append(s.plans, plan)
		}
		for _, part := range p.Agents.Status(agent).Parts {
			backup := part.File + ".ccd-backup"
			if info, err := os.Lstat(backup); err == nil && info.Mode().IsRegular() && !slices.Contains(s.backups, backup) {
				s.backups = append(s.backups, backup)
			}
			if dir := filepath.Dir(part.File); !slices.Contains(s.dirs, dir) {
				s.dirs = append(s.dirs, dir)
			}
		}
	}
	return s
}

// apart fails if a watched directory is, by any path, inside a directory that the purge empties.
func (p Purge) apart(*Remains) error {
	dirs := map[string]string{p.StateDir: "the state directory"}
	for _, dir := range p.agentDirs(p.Config.Companion.Dir) {
		dirs[dir] = "companion.dir,"
	}
	for _, root := range p.Roots {
		for dir, what := range dirs {
			if disk.Within(disk.Real(root.Path), disk.Real(dir)) {
				return fmt.Errorf("purge: %s is watched, and is in %s %s: move the transcripts out of it first", root.Path, what, dir)
			}
		}
	}
	return nil
}

func (p Purge) findArchive(r *Remains) error {
	usual := filepath.Join(p.StateDir, "archive.db") // there may be one from before archive.path was set
	for _, path := range slices.Compact([]string{p.ArchivePath, usual}) {
		files, err := archive.Files(path)
		if err != nil {
			return err
		}
		r.archive = append(r.archive, files...)
	}
	for _, path := range r.archive {
		if info, err := os.Lstat(path); err == nil {
			r.bytes += info.Size()
		}
	}
	r.around = append(r.around, filepath.Dir(p.ArchivePath))
	return nil
}

// findState finds ccd's files in the state directory. Files of others are kept.
func (p Purge) findState(r *Remains) error {
	dir := p.StateDir
	r.around = append(r.around, filepath.Dir(dir))
	var err error
	if r.logs, err = logsOf(p.Config.Log.File); err != nil {
		return err
	}
	switch info, err := os.Lstat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.IsDir():
		return words.Hint(fmt.Errorf("purge: the state directory %s is a symbolic link", dir), "remove the link and its target, then run it again")
	}
	r.state = dir
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("find state: %w", err)
	}
	own, err := logsOf(filepath.Join(dir, "ccd.log"))
	if err != nil {
		return err
	}
	for _, name := range []string{"run.lock", "run.json", "restores.log", "restores.log.1", "hook.log", "hook.log.1", "hook.said", "web.json", "web.html"} {
		own = append(own, filepath.Join(dir, name))
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case slices.Contains(r.archive, path), slices.Contains(r.logs, path), strings.HasPrefix(e.Name(), ".ccd-"), e.IsDir() && p.holds(path):
		case path == p.backups():
			r.keeps = append(r.keeps, path+": backups of the archive")
		case path == filepath.Join(dir, pulled.Dir): // without the keys, nothing reads the copies
			r.keeps = append(r.keeps, path+": keys and pulled machines of ccd remote")
		case e.Type().IsRegular() && slices.Contains(own, path):
			r.own = append(r.own, path)
		default:
			r.keeps = append(r.keeps, path+": not written by ccd")
		}
	}
	return nil
}

// holds reports whether a directory in the state directory is ccd's own, or has something that the configuration names.
// Such directories are searched separately, and removed once they are empty.
func (p Purge) holds(dir string) bool {
	c := p.Config
	for _, path := range []string{p.ArchivePath, c.Companion.Dir, c.Log.File} {
		if disk.Within(path, dir) {
			return true
		}
	}
	inside, err := os.ReadDir(dir)
	return dir == p.kept() || (dir == p.summarizer() || dir == p.backups() || dir == daemon.RequestDir(p.StateDir)) && err == nil && len(inside) == 0
}

// backups returns the directory in which the daemon makes backups if the configuration names none.
func (p Purge) backups() string { return filepath.Join(p.StateDir, "backups") }

// summarizer returns the directory in which the summarizer's command runs. What it writes there is not ccd's.
func (p Purge) summarizer() string { return filepath.Join(p.StateDir, "summarizer") }

// kept returns the directory of companions whose transcripts are gone.
func (p Purge) kept() string { return filepath.Join(p.StateDir, "companions") }

// logsOf finds a log file and the older ones rotated beside it.
func logsOf(file string) (all []string, err error) {
	if file == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(filepath.Dir(file))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("find logs: %w", err)
	}
	ext := filepath.Ext(file)
	stem := strings.TrimSuffix(filepath.Base(file), ext)
	for _, e := range entries {
		date, older := strings.CutPrefix(strings.TrimSuffix(e.Name(), ext), stem+"-")
		_, err := time.Parse("2006-01-02T15-04-05.000", date)
		if e.Type().IsRegular() && (e.Name() == filepath.Base(file) || older && err == nil && strings.HasSuffix(e.Name(), ext)) {
			all = append(all, filepath.Join(filepath.Dir(file), e.Name()))
		}
	}
	return all, nil
}

// findConfig finds the configuration in its usual place. A configuration elsewhere was named by the user and is kept.
func (p Purge) findConfig(r *Remains) error {
	file, err := config.File(p.Env.Getenv, p.Home)
	if err != nil {
		return err
	}
	if info, err := os.Lstat(file); err == nil && !info.IsDir() {
		r.config = file
	}
	if used := p.Config.Path(); used != "" && used != file {
		r.keeps = append(r.keeps, used+": a configuration at a path that you chose")
	}
	entries, err := os.ReadDir(filepath.Dir(file))
	for _, e := range entries {
		if path := filepath.Join(filepath.Dir(file), e.Name()); path != file && !strings.HasPrefix(e.Name(), ".ccd-") {
			r.keeps = append(r.keeps, path+": not written by ccd")
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	r.around = append(r.around, filepath.Dir(file))
	return nil
}

// Text lists what a purge removes and what it keeps.
func (r *Remains) Text() string {
	var b strings.Builder
	line := func(what, format string, args ...any) {
		fmt.Fprintf(&b, "  %-14s %s\n", what, fmt.Sprintf(format, args...))
	}
	lines := func(what string, paths []string) {
		for _, p := range paths {
			line(what, "%s", p)
		}
	}
	b.WriteString("This permanently removes:\n")
	line("service", "%s", r.service)
	if slices.ContainsFunc(r.settings.plans, func(p *Plan) bool { return !p.Empty() }) {
		line("hooks", "ccd's entries in agents' settings (ccd agents uninstall --dry-run shows them)")
	}
	lines("backup", r.settings.backups)
	for i := 0; i < len(r.companions); {
		dir, n := filepath.Dir(r.companions[i]), 0
		for ; i < len(r.companions) && filepath.Dir(r.companions[i]) == dir; i++ {
			n++
		}
		line("companions", "%d below %s", n, dir)
	}
	lines("archive", r.archive)
	if len(r.archive) > 0 {
		line("", "%s, the originals of %s", humanize.IBytes(uint64(r.bytes)), words.Count(r.sessions, "session"))
	}
	if r.OnlyHere > 0 {
		line("", "%s (no complete transcript found)", OnlyHereText(r.OnlyHere))
	}
	if r.state != "" {
		line("state", "%s: files that ccd wrote", r.state)
	}
	lines("log", r.logs)
	if r.config != "" {
		line("configuration", "%s", r.config)
	}
	b.WriteString("Transcripts stay, including the sessions that `ccd resume` wrote.\n")
	for _, s := range r.keeps {
		fmt.Fprintf(&b, "kept: %s\n", s)
	}
	return b.String()
}

// Problems returns what could not be read.
func (r *Remains) Problems() []string {
	return slices.Concat(r.settings.unread, r.problems, r.unreadable)
}

// Companions returns how many companions were found.
func (r *Remains) Companions() int { return len(r.companions) }
