package main

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
	agentsetup "ccd/internal/agent/setup"
	"ccd/internal/config"
	"ccd/internal/sidecar"
	"ccd/internal/transcript"
)

// remains is what of ccd's is there, of one account, beside the service. Every path is absolute.
type remains struct {
	service   string
	agents    []*agentsetup.Plan
	backups   []string // copies of agents' files from before ccd
	agentDirs []string // what stands around those files

	companions []string
	strayDirs  []string // where unfinished companions are
	emptied    []string // directories of ccd's tree of companions, an inner one before what holds it

	archive  []string // its file, its locks, copies that were made of it
	bytes    int64    // of them
	sessions int
	state    string   // "" where there is none
	own      []string // ccd's own in it: files, and a directory that was made for a summarizer's command
	config   string   // "" where there is none
	logs     []string // where log.file names one
	around   []string // directories that go, and those above them below the home directory, where they are empty then

	stays    []string // what looks like ccd's and is not, or was named by the user
	problems []string // what could not be looked at
	unread   []string // of them, those of agents' files
}

// remains finds all that purge removes. Nothing is changed.
func (i installation) remains(ctx context.Context) (r remains, err error) {
	st, err := i.Status(ctx)
	if err != nil {
		return r, err
	}
	r.service = "not installed"
	if st.Installed {
		r.service = "installed, " + st.Detail
	}
	if err := i.findAgents(&r); err != nil {
		return r, err
	}
	return r, i.find(ctx, &r)
}

// again finds all but the service and what agents have as it stands now: the service may have written until it ended.
// What could not be looked at and was not told yet is said.
func (i installation) again(ctx context.Context, r remains) (remains, error) {
	now := remains{agents: r.agents, backups: r.backups, agentDirs: r.agentDirs, problems: r.unread, unread: r.unread}
	err := i.find(ctx, &now)
	for _, p := range now.problems {
		if !slices.Contains(r.problems, p) {
			i.app.say("problem: %s", p)
		}
	}
	return now, err
}

// find finds the archive, the state directory, the configuration and companions.
func (i installation) find(ctx context.Context, r *remains) error {
	if err := i.findState(r); err != nil {
		return err
	}
	i.findCompanions(ctx, r)
	return ctx.Err()
}

// findAgents finds what agents' own files hold of ccd's, and the copies that were kept of them.
func (i installation) findAgents(r *remains) error {
	s, err := i.app.setup(nil, agentsFlags{})
	if err != nil {
		return err
	}
	for _, agent := range agentsetup.Agents() {
		plan, err := s.Uninstall(agent)
		if err != nil { // a file that its agent would not read either keeps nothing else from going
			r.unread = append(r.unread, err.Error()+": what it holds of ccd's stays")
		} else {
			r.agents = append(r.agents, plan)
		}
		for _, p := range s.Status(agent).Parts {
			if backup := p.File + ".ccd-backup"; regular(backup) && !slices.Contains(r.backups, backup) {
				r.backups = append(r.backups, backup)
			}
			if dir := filepath.Dir(p.File); !slices.Contains(r.agentDirs, dir) {
				r.agentDirs = append(r.agentDirs, dir)
			}
		}
	}
	r.problems = slices.Clone(r.unread)
	return nil
}

func regular(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// findState finds the archive, the state directory and the configuration.
func (i installation) findState(r *remains) error {
	l := i.library
	for _, root := range l.roots {
		if within(realPath(root.Path), realPath(l.stateDir)) {
			return fmt.Errorf("purge: %s is watched, and stands in the state directory %s: move the transcripts out of it first", root.Path, l.stateDir)
		}
	}
	var err error
	if r.archive, err = archive.Files(l.archivePath); err != nil {
		return err
	}
	for _, p := range r.archive {
		if info, err := os.Lstat(p); err == nil {
			r.bytes += info.Size()
		}
	}
	switch info, err := os.Lstat(l.stateDir); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case !info.IsDir():
		return hint(fmt.Errorf("purge: the state directory %s is a symlink, and none is followed", l.stateDir), "rm it with what it leads to, then run it again")
	default:
		r.state = l.stateDir
	}
	r.around = append(r.around, filepath.Dir(l.archivePath), filepath.Dir(l.stateDir))
	if r.logs, err = logsOf(l.config.Log.File); err != nil {
		return err
	}
	if err := i.findOwn(r); err != nil {
		return err
	}
	return i.findConfig(r)
}

// realPath is the path with the symlinks in it followed, as far as it is there.
func realPath(path string) string {
	there := existing(path)
	real, err := filepath.EvalSymlinks(there)
	if err != nil {
		return path
	}
	return real + strings.TrimPrefix(path, there)
}

// findOwn tells what in the state directory is ccd's from what somebody has put there, which stays.
func (i installation) findOwn(r *remains) error {
	if r.state == "" {
		return nil
	}
	entries, err := os.ReadDir(r.state)
	if err != nil {
		return fmt.Errorf("find state: %w", err)
	}
	logs, err := logsOf(filepath.Join(r.state, "ccd.log"))
	if err != nil {
		return err
	}
	own := append(logs, r.logs...)
	for _, name := range []string{"run.lock", "run.json", "restores.log", "restores.log.1", "hook.log", "hook.log.1", "hook.said"} {
		own = append(own, filepath.Join(r.state, name))
	}
	c := i.library.config
	for _, e := range entries {
		p := filepath.Join(r.state, e.Name())
		switch named := func(path string) bool { return path != "" && within(path, p) }; {
		case slices.Contains(r.archive, p), strings.HasPrefix(e.Name(), ".ccd-"):
		case e.IsDir() && (p == i.kept() || named(i.library.archivePath) || named(c.Companion.Dir) || named(c.Log.File)):
		case e.IsDir() && e.Name() == "summarizer", e.Type().IsRegular() && slices.Contains(own, p):
			r.own = append(r.own, p)
		default:
			r.stays = append(r.stays, p+": not ccd's")
		}
	}
	return nil
}

// kept is where companions of transcripts that are gone stand.
func (i installation) kept() string { return filepath.Join(i.library.stateDir, "companions") }

// logsOf finds a log file and the older ones that were moved aside beside it.
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

// findConfig finds the configuration in its usual place. Another was named by the user, and is the user's.
func (i installation) findConfig(r *remains) error {
	home, err := i.app.home()
	if err != nil {
		return err
	}
	file, err := config.File(i.app.getenv, home)
	if err != nil {
		return err
	}
	if info, err := os.Lstat(file); err == nil && !info.IsDir() {
		r.config = file
	}
	if used := i.library.configPath; used != "" && used != file {
		r.stays = append(r.stays, used+": a configuration in a place that you named")
	}
	entries, err := os.ReadDir(filepath.Dir(file))
	for _, e := range entries {
		if p := filepath.Join(filepath.Dir(file), e.Name()); p != file && !strings.HasPrefix(e.Name(), ".ccd-") {
			r.stays = append(r.stays, p+": not ccd's")
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	r.around = append(r.around, filepath.Dir(file))
	return nil
}

// findCompanions finds those that the archive knows, and those that stand where the daemon puts them.
func (i installation) findCompanions(ctx context.Context, r *remains) {
	found := map[string]bool{}
	take := func(path string) {
		switch ours, err := sidecar.Ours(path); {
		case errors.Is(err, fs.ErrNotExist) || found[path]:
		case err != nil:
			r.problems = append(r.problems, err.Error())
		case ours:
			found[path] = true
			r.companions = append(r.companions, path)
		default:
			found[path] = true
			r.stays = append(r.stays, path+": not ccd's, whatever its name")
		}
	}
	for _, root := range i.library.roots {
		r.walk(ctx, root.Path, take)
	}
	r.emptied = append(r.emptied, r.walk(ctx, i.kept(), take)...)
	if dir := i.library.config.Companion.Dir; dir != "" {
		for _, f := range transcript.Formats() {
			r.emptied = append(r.emptied, r.walk(ctx, filepath.Join(dir, f.Agent), take)...)
		}
		r.around = append(r.around, dir)
	}
	if err := i.library.load(ctx); err != nil {
		r.problems = append(r.problems, "companions that only the archive knows of may be left: "+err.Error())
	}
	r.sessions = len(i.library.sessions)
	for _, e := range i.library.sessions {
		for _, p := range append(slices.Clone(e.state.Earlier), e.state.Companion) {
			if p != "" {
				take(p)
				r.emptied = append(r.emptied, treeAround(e.Session.Session, p)...)
			}
		}
	}
	slices.Sort(r.companions)
	r.companions = slices.Compact(r.companions)
}

// treeAround are the directories around a companion that stands in a tree of companions, that of the tree last; none where
// it stands beside its transcript.
func treeAround(s transcript.Session, path string) (dirs []string) {
	top, ok := strings.CutSuffix(path, sidecar.Path(s, string(filepath.Separator)))
	for dir := filepath.Dir(path); ok && path != sidecar.Path(s, "") && top != "" && within(dir, top); dir = filepath.Dir(dir) {
		dirs = append(dirs, dir)
	}
	return dirs
}

// walk takes every file below dir that has a companion's name, and notes where unfinished ones are. It follows no symlink
// but dir itself, and returns the directories, an inner one before what holds it.
func (r *remains) walk(ctx context.Context, dir string, take func(path string)) (dirs []string) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil // not there
	}
	err = filepath.WalkDir(real, func(path string, d fs.DirEntry, err error) error {
		path = dir + strings.TrimPrefix(path, real) // as the archive names it
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			r.problems = append(r.problems, err.Error())
		case d.IsDir():
			dirs = append(dirs, path)
		case strings.HasPrefix(d.Name(), ".ccd-"):
			if in := filepath.Dir(path); !slices.Contains(r.strayDirs, in) {
				r.strayDirs = append(r.strayDirs, in)
			}
		case sidecar.Is(d.Name()):
			take(path)
		}
		return nil
	})
	if err != nil && ctx.Err() == nil {
		r.problems = append(r.problems, err.Error())
	}
	slices.Reverse(dirs)
	return dirs
}

// text tells what goes and what stays.
func (r remains) text() string {
	var b strings.Builder
	line := func(what, format string, args ...any) {
		fmt.Fprintf(&b, "  %-14s %s\n", what, fmt.Sprintf(format, args...))
	}
	b.WriteString("This removes for ever:\n")
	line("service", "%s", r.service)
	if slices.ContainsFunc(r.agents, func(p *agentsetup.Plan) bool { return !p.Empty() }) {
		line("hooks", "what agents' settings hold of ccd's (ccd agents uninstall --dry-run shows it)")
	}
	for _, p := range r.backups {
		line("backup", "%s", p)
	}
	for _, dir := range byDirectory(r.companions) {
		line("companions", "%d below %s", dir.n, dir.path)
	}
	for _, p := range r.archive {
		line("archive", "%s", p)
	}
	if len(r.archive) > 0 {
		line("", "%s, the originals of %s", humanize.IBytes(uint64(r.bytes)), count(r.sessions, "session"))
	}
	if r.state != "" {
		line("state", "%s, what ccd wrote there", r.state)
	}
	for _, p := range r.logs {
		line("log", "%s", p)
	}
	if r.config != "" {
		line("configuration", "%s", r.config)
	}
	b.WriteString("Transcripts stay, the sessions that `ccd resume` wrote among them.\n")
	for _, s := range r.stays {
		fmt.Fprintf(&b, "stays: %s\n", s)
	}
	for _, p := range r.problems {
		fmt.Fprintf(&b, "problem: %s\n", p)
	}
	return b.String()
}

// directory is one with a number of files.
type directory struct {
	path string
	n    int
}

// byDirectory counts files by the directory that they stand in.
func byDirectory(paths []string) (all []directory) {
	for _, p := range paths {
		dir := filepath.Dir(p)
		if n := len(all); n > 0 && all[n-1].path == dir {
			all[n-1].n++
			continue
		}
		all = append(all, directory{dir, 1})
	}
	return all
}
