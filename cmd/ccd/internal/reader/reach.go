package reader

import (
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ccd/cmd/ccd/internal/account"
	"ccd/daemon"
	"ccd/internal/agent/registry"
	"ccd/internal/config"
	"ccd/internal/project"
	"ccd/internal/transcript"
)

// reach is which sessions a library gives. Commands for agents have one; nil is every session.
type reach struct {
	project *project.Project
	callers []string // sessions that may be reached where they work now: they run this command
	outside int      // archived sessions that are out of reach
}

// reachOf is what an agent in the current directory reaches, nil if the user gave it every project.
func reachOf(p *account.Place, callers []string) (*reach, error) {
	if p.Config.Agents.Reach == config.ReachAll {
		return nil, nil
	}
	dir, err := p.Env.WorkingDir()
	if err != nil {
		return nil, err
	}
	return &reach{project: project.Of(dir, p.Home), callers: callers}, nil
}

// narrow drops the sessions that are out of reach. A sub-agent, or a file that a session spilled, is where its session is.
func (l *Library) narrow(ctx context.Context) error {
	if l.reach == nil {
		return nil
	}
	all := make(map[transcript.Key]*Entry, len(l.Sessions))
	for _, e := range l.Sessions {
		all[e.Key] = e
	}
	var in []*Entry
	for _, e := range l.Sessions {
		top := e
		for range len(all) { // two sessions may name each other as parents
			above := all[transcript.Key{Agent: top.Agent, ID: top.Parent}]
			if above == nil {
				break
			}
			top = above
		}
		has, err := l.reaches(ctx, top)
		if err != nil {
			return err
		}
		if has {
			in = append(in, e)
		}
	}
	l.reach.outside = len(l.Sessions) - len(in)
	l.Sessions = in
	return nil
}

// reaches reports whether a session is in reach, or a file whose session is not archived yet: a hook archives a long output
// before the daemon has seen the session.
func (l *Library) reaches(ctx context.Context, e *Entry) (bool, error) {
	if slices.Contains(l.reach.callers, cmp.Or(e.Parent, e.Name())) && l.reach.project.Has(e.Kept.Cwd) { // anybody can set the variable
		return true, nil
	}
	if e.Class == transcript.Attachment {
		dir, _, _ := strings.Cut(e.Path, string(filepath.Separator)+e.Parent+string(filepath.Separator))
		key := transcript.Key{Agent: e.Agent, ID: e.Parent}
		return l.reach.project.Has(l.Began(ctx, transcript.Session{Key: key, Path: filepath.Join(dir, e.Parent+".jsonl")})), nil
	}
	if e.StateDamage == nil && e.Kept.Records > 0 && (e.Kept.Start != "" || !l.reach.project.Has(e.Kept.Cwd)) {
		return l.reach.project.Has(e.Kept.Start), nil
	}
	// An older ccd noted only the newest working directory, or the note is damaged or not made yet: its records tell the first one.
	g, err := l.Reading(e, 0)
	if err != nil {
		return false, nil
	}
	for r, err := range g.Records(ctx) {
		if err != nil {
			return false, ctx.Err() // damaged: unknown is out of reach
		}
		if r.Cwd != "" {
			return l.reach.project.Has(r.Cwd), nil
		}
	}
	return false, nil
}

// Began returns the directory in which a session began, by its transcript or, if that is gone, by what is kept of it; "" if neither tells.
// The name of the transcript's directory does not tell: two projects may have the same one.
func (l *Library) Began(ctx context.Context, s transcript.Session) string {
	if dir := WorkingDir(l.Agents, s); dir != "" {
		return dir
	}
	stored, err := l.Archive.Last(ctx, s.Key)
	if err != nil {
		return ""
	}
	kept, _ := daemon.DecodeState(stored.State) // nothing is known of a damaged one
	return kept.Start
}

// maxFirst is how many bytes of a transcript are read to find its directory; a Codex rollout's first line is some 20 KB.
const maxFirst = 64 << 10

// WorkingDir returns the working directory in the first records of a session's transcript, "" if they name none.
func WorkingDir(agents registry.Table, s transcript.Session) string {
	info, err := os.Lstat(s.Path)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(s.Path)
	if err != nil {
		return ""
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, maxFirst))
	if err != nil {
		return ""
	}
	end := strings.LastIndexByte(string(head), '\n') + 1
	seg := transcript.Segment{Data: head[:end], End: transcript.Cursor{Generation: 1, Offset: int64(end)}}
	cwd := ""
	for r := range agents.NewDecoder(s.Agent, s.Class).Records(seg) {
		if cwd == "" && r.Cwd != "" {
			cwd = filepath.Clean(r.Cwd)
		}
	}
	return cwd
}

// Widen is the hint if an agent names something that is not found. It must not tell whether that is out of reach.
const Widen = "if it belongs to another project, ask the user to set reach = \"all\" below [agents] in ccd's configuration"

// ForAgent reports whether only the sessions in an agent's reach are given.
func (l *Library) ForAgent() bool { return l.reach != nil }

// Limited reports whether something that was not found may be out of reach.
func (l *Library) Limited() bool { return l.reach != nil && len(l.Sessions)+l.reach.outside > 0 }

// Scope is where something was looked for.
func (l *Library) Scope() string {
	if l.Limited() {
		return " in this project's sessions"
	}
	return ""
}
