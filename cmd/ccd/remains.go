package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	agentsetup "ccd/cmd/ccd/internal/setup"
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
	onlyHere int      // of them, how many exist nowhere else
	state    string   // "" where there is none
	own      []string // ccd's own in it: files, and a directory that was made for a summarizer's command
	config   string   // "" where there is none
	logs     []string // where log.file names one
	around   []string // directories that go, and those above them below the home directory, where they are empty then

	stays    []string // what looks like ccd's and is not, or was named by the user
	problems []string // what could not be looked at
	unread   []string // of them, those of agents' files
	stuck    []string // companions that cannot be looked at or removed: while there is one, what knows of it stays
}

// remains finds all that purge removes. Nothing is changed.
func (i installation) remains(ctx context.Context) (r remains, err error) {
	st, err := i.Status(ctx)
	if err != nil {
		return r, err
	}
	switch r.service = "not installed"; {
	case st.Foreign != "":
		r.service = "stays: it is that of another home, " + st.Foreign
	case st.Installed:
		r.service = "installed, " + st.Detail
	}
	if err := i.findAgents(&r); err != nil {
		return r, err
	}
	if err := i.find(ctx, &r); err != nil {
		return r, err
	}
	r.onlyHere, err = i.library.onlyHere(ctx)
	return r, err
}

// again finds all but the service and what agents have as it stands now: the service may have written until it ended.
// What could not be looked at and was not told yet is said.
func (i installation) again(ctx context.Context, r remains) (remains, error) {
	now := remains{agents: r.agents, backups: r.backups, agentDirs: r.agentDirs, problems: r.unread, unread: r.unread}
	err := i.find(ctx, &now)
	told := slices.Concat(r.problems, r.stuck)
	for _, p := range slices.Concat(now.problems, now.stuck) {
		if !slices.Contains(told, p) {
			fmt.Fprintf(i.app.err, "problem: %s\n", p)
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
	if r.onlyHere > 0 {
		line("", "%s (no complete transcript found)", onlyHereText(r.onlyHere))
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
	b.WriteString(r.trouble())
	return b.String()
}

// trouble tells what could not be looked at.
func (r remains) trouble() string {
	var b strings.Builder
	for _, p := range slices.Concat(r.problems, r.stuck) {
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
