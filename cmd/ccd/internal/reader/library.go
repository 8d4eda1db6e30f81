// Package reader answers what people and agents ask of the archive: which sessions there are and which one an argument names, what
// a record or an ID restores, what each turn did, what a file contained, and what a companion says.
//
// A Library has the sessions, an Entry each; a Reading reads one generation of one. Invariant: it only reads; all that it writes
// is the list of what was restored. A command that serves an agent reaches only the sessions of its project: those out of reach are
// dropped when the sessions are loaded, so that nothing behind that can give them. It knows nothing of flags, of exit codes and of
// how an answer is printed.
package reader

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ccd/archive"
	"ccd/cmd/ccd/internal/account"
	"ccd/cmd/ccd/internal/disk"
	"ccd/compactor"
	"ccd/daemon"
	"ccd/internal/agent/registry"
	"ccd/internal/config"
	"ccd/internal/ownfile"
	"ccd/internal/project"
	"ccd/internal/session"
	"ccd/internal/summarizer"
	"ccd/internal/transcript"
	"ccd/internal/words"
	"ccd/watcher"
)

// Library is the sessions that are archived at a place.
type Library struct {
	*account.Place
	Sessions []*Entry          // in reach, newest first; none before Load
	Projects map[string]string // the names of their directories, by path: as short as tells one from the others
	Damage   []error           // why sessions may be missing among them

	reach   *project.Project // of whose sessions only an agent learns; nil: every session
	outside int              // archived sessions that are out of reach
	callers []string         // the sessions that run this command in their shell, as their agents tell: an agent reaches where they work now
	loaded  bool             // Sessions are all that the archive knows
	seen    fs.FileInfo      // the archive's file when it was loaded, nil if there was none
	read    time.Time        // when that was
	entries map[transcript.Key]*Entry
}

// Entry is one session and what the daemon last kept of it.
type Entry struct {
	archive.Session
	Kept    daemon.State
	Machine string // that has its files, as --machine names it; "" for this one
	Project string // the name of its directory, see Library.Projects

	Delegated time.Time // when a sub-agent of it last wrote, as far as the sessions were loaded

	CopyOf *Entry // of an unlabelled copy that nobody has continued: the session that has all that it says
	short  string // see Short
	newest *Entry // of an earlier file of a conversation: that which stands for all
}

// Changed reports whether the archive's file has changed since Load, and whether it is another file. One that was read within a
// second of a change may have changed again without another time.
func (l *Library) Changed() (changed, replaced bool) {
	was, now := l.seen, stat(l.ArchivePath)
	switch {
	case was == nil || now == nil:
		replaced = (was == nil) != (now == nil)
		return replaced || !l.loaded, replaced
	case !os.SameFile(was, now):
		return true, true
	}
	same := was.Size() == now.Size() && was.ModTime().Equal(now.ModTime())
	return !same || l.read.Sub(now.ModTime()) <= time.Second, false
}

func stat(path string) fs.FileInfo {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	return info
}

// Load reads what the archive knows of each session in reach.
func (l *Library) Load(ctx context.Context) error {
	seen, read := stat(l.ArchivePath), time.Now()
	stored, err := l.Archive.Sessions(ctx)
	l.Damage = nil
	for _, err := range archive.Damages(err) { // what is damaged takes none of the sound ones with it
		if !errors.As(err, new(*archive.DamageError)) {
			return fmt.Errorf("read archive: %w", err)
		}
		if l.Damage = append(l.Damage, err); len(stored) == 0 { // the error names the archive itself
			return err
		}
	}
	l.take(ctx, stored)
	for _, e := range l.Sessions { // those in reach: no other may be named
		l.Damage = append(l.Damage, e.StateDamage, e.Lost)
	}
	l.Damage = slices.DeleteFunc(l.Damage, func(err error) bool { return err == nil })
	l.loaded, l.seen, l.read = true, seen, read
	return nil
}

// take makes archived sessions those of the library, as far as they are in reach.
func (l *Library) take(ctx context.Context, stored []archive.Session) {
	l.Sessions, l.entries = make([]*Entry, len(stored)), make(map[transcript.Key]*Entry, len(stored))
	for i, s := range stored {
		l.Sessions[i] = l.entry(s)
		l.entries[s.Key] = l.Sessions[i]
	}
	slices.SortFunc(l.Sessions, func(a, b *Entry) int { // the newest first
		return cmp.Or(b.Last().Compare(a.Last()), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Agent, b.Agent))
	})
	l.join()
	l.addFacts()
	l.narrow(ctx)
	l.tellParents()
	l.relate()
	l.shorten()
	l.nameProjects()
}

// nameProjects names the directories of the sessions.
func (l *Library) nameProjects() {
	var all []string
	for _, e := range l.Sessions {
		all = append(all, e.Kept.Cwd)
	}
	l.Projects = words.Directories(all)
	for _, e := range l.Sessions {
		e.Project = l.Projects[e.Kept.Cwd]
	}
}

// Newest returns the session of an agent that grew last and whose transcript is there, nil if there is none. One that ccd resume began is
// none: it does not tell the agent's version.
func (l *Library) Newest(agent string) *Entry {
	for _, e := range l.Sessions {
		if e.Agent == agent && e.Class == transcript.Main && !e.Kept.Gone && e.Kept.Resumed.Records == 0 {
			return e
		}
	}
	return nil
}

// join makes one session of the files of a conversation: the newest one stands for all, and the others are its earlier files.
func (l *Library) join() {
	newest := map[transcript.Key]*Entry{}
	for _, e := range l.Sessions {
		if e.Thread != "" {
			thread := transcript.Key{Agent: e.Agent, ID: e.Thread}
			if first := newest[thread]; first == nil || transcript.Base(first.Path) < transcript.Base(e.Path) {
				newest[thread] = e
			}
		}
	}
	for _, e := range l.Sessions {
		if one := newest[transcript.Key{Agent: e.Agent, ID: e.Name()}]; one != nil && one != e {
			e.Class, e.newest = transcript.Earlier, one
			if one.Kept.Labels.IsZero() {
				one.Kept.Labels = e.Kept.Labels
			}
		}
	}
}

// Current returns the session that stands for all files of a conversation: for an earlier one of them the newest.
func (e *Entry) Current() *Entry { return cmp.Or(e.newest, e) }

// Last is when the session last grew: by its own clock, else by its file's.
func (e *Entry) Last() time.Time { return e.Kept.Grew() }

// Copy reports whether it is a copy that nobody has continued.
func (e *Entry) Copy() bool { return e.CopyOf != nil || e.Kept.NotResumed() }

// Aside reports whether lists leave the session out unless all are wanted: it has an original, ccd does not follow it, or its records
// are known, and no person has spoken in it or labelled it. What was only given to `ccd compact` is no session.
func (e *Entry) Aside() bool {
	s := &e.Kept
	switch {
	case e.Root == "", e.Class == transcript.Earlier, s.SkipReason != "", e.CopyOf != nil:
		return true
	case e.Class != transcript.Main:
		return false
	}
	understood := !s.UnknownFormat || s.Broken == s.Records // a file without any JSON is no transcript
	known := e.StateDamage == nil && understood && s.Resumed.Records == 0 && (s.Records > 0 || e.Bytes() == 0)
	return known && s.Ask == "" && s.Boundary.IsZero() && s.Labels.IsZero()
}

// Choice is which sessions are wanted, and from when to when.
type Choice struct {
	Session      func(*Entry) bool
	Since, Until time.Time // zero for no limit
	Record       int       // of changes: only those of this record, each by itself; 0 for all
}

// In reports whether a time is in those that are wanted. One that is not known is, unless a limit is given.
func (c Choice) In(t time.Time) bool {
	return (c.Since.IsZero() || !t.Before(c.Since)) && (c.Until.IsZero() || !t.IsZero() && !t.After(c.Until))
}

// Filter returns those of some sessions that are wanted.
func (c Choice) Filter(all []*Entry) []*Entry {
	return slices.DeleteFunc(slices.Clone(all), func(e *Entry) bool { return !c.Session(e) })
}

// Listed returns the sessions that lists show: the main ones that are not aside, newest first.
func (l *Library) Listed(agent string) (all []*Entry) {
	for _, e := range l.Sessions {
		if e.Class == transcript.Main && !e.Aside() && (agent == "" || e.Agent == agent) {
			all = append(all, e)
		}
	}
	return all
}

// Earlier returns the newest listed session of the agent of s, other than s, that belongs to the project of a directory and has a
// companion, nil if there is none. An agent waits for it, so it reads no other agent's sessions; but all of its agent's, as one without
// a companion may have taken another one's place.
func (l *Library) Earlier(ctx context.Context, s transcript.Session, dir string) (*Entry, error) {
	in := Library{Place: l.Place, reach: project.Of(dir, l.Home)}
	stored, err := l.Archive.SessionsOf(ctx, s.Agent)
	in.take(ctx, stored)
	for _, e := range in.Listed(s.Agent) {
		if e.Key != s.Key && e.HasCompanion() {
			return e, nil
		}
	}
	return nil, err
}

func (l *Library) entry(s archive.Session) *Entry {
	e := &Entry{Session: s, Machine: l.Machine}
	if state, err := daemon.DecodeState(s.State); err == nil { // a cache: unreadable is as good as none
		e.Kept = state
		if e.Parent == "" && state.Parent != e.ID {
			e.Parent = state.Parent
		}
		e.setParent(e.Parent)
	}
	return e
}

// setParent makes the session one that another one started, "" for none: its path does not tell, but its records do, or a file beside it.
func (e *Entry) setParent(id string) {
	if e.Parent = id; id != "" && e.Class == transcript.Main {
		e.Class = transcript.SubAgent
	}
}

// Session returns one session, without reading all of them where that has not been done.
func (l *Library) Session(ctx context.Context, k transcript.Key) *Entry {
	switch e := l.Entry(k); {
	case e != nil:
		return e
	case l.loaded && l.reach != nil: // an agent does not learn of a session out of its reach
		return &Entry{}
	}
	s, err := l.Archive.Session(ctx, k)
	if err != nil { // its record is damaged: what is asked for is found all the same
		s.Key = k
	}
	return l.entry(s)
}

// Entry returns the session of a key, nil if it is not in reach.
func (l *Library) Entry(k transcript.Key) *Entry { return l.entries[k] }

// Parent returns the session that started another one, or has it as a file; nil if there is none.
func (l *Library) Parent(e *Entry) *Entry {
	return l.Entry(transcript.Key{Agent: e.Agent, ID: e.Parent})
}

// Generation returns number n of the session's generations, the current one for 0.
func (e *Entry) Generation(n int) (archive.Generation, error) {
	if len(e.Generations) == 0 {
		return archive.Generation{}, fmt.Errorf("read session %s: %w: nothing of it is archived", e.ID, archive.ErrNotFound)
	}
	if n == 0 {
		return e.Generations[len(e.Generations)-1], nil
	}
	for _, g := range e.Generations {
		if g.N == n {
			return g, nil
		}
	}
	return archive.Generation{}, fmt.Errorf("find generation %d of session %s: %w: the session has %s", n, e.ID, archive.ErrNotFound, words.Count(len(e.Generations), "generation"))
}

// Options returns what decides the session's companion: the configured options and the session's own.
func (l *Library) Options(e *Entry) compactor.Options {
	return Options(l.Place).With(e.Kept.Manual)
}

// StartedBy reports whether the session is a sub-agent of another one.
func (e *Entry) StartedBy(other *Entry) bool {
	return e.Class == transcript.SubAgent && e.Agent == other.Agent && e.Parent == other.ID
}

// Conversation reports whether it is one, or an earlier file of one: neither a sub-agent nor an attachment.
func (e *Entry) Conversation() bool {
	return e.Class == transcript.Main || e.Class == transcript.Earlier
}

// Bytes is how much is archived of the session, all generations together.
func (e *Entry) Bytes() int64 {
	var n int64
	for _, g := range e.Generations {
		n += g.Tip.Offset
	}
	return n
}

// CompanionFile returns the path of the session's companion, "" if there is none or another machine has it: at that path
// there may be a companion of this one.
func (e *Entry) CompanionFile() string {
	if e.Machine != "" {
		return ""
	}
	return e.Kept.Companion
}

// HasCompanion reports whether the session's companion stands where it was written, and can be read.
func (e *Entry) HasCompanion() bool {
	file := e.CompanionFile()
	return file != "" && disk.Readable(file) == nil
}

// Whole reports whether the transcript stands where it was last seen, with all that is archived of it.
func (e *Entry) Whole() bool {
	info, err := os.Stat(e.Path)
	return err == nil && (e.Packed || info.Size() >= e.Tip().Offset)
}

// Present reports whether the transcript stands where it was last seen.
func (e *Entry) Present() bool {
	_, present := e.File()
	return present
}

// Open gives the sessions at a place, none of which is loaded yet. That there is no archive yet is no error. With forAgent
// they are only those in an agent's reach.
func Open(p *account.Place, forAgent bool) (*Library, error) {
	l := &Library{Place: p}
	for _, name := range []string{"CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID"} {
		if id := p.Env.Getenv(name); id != "" {
			l.callers = append(l.callers, id)
		}
	}
	if !forAgent || p.Config.Agents.Reach == config.ReachAll {
		return l, nil
	}
	dir, err := p.Env.WorkingDir()
	if err == nil {
		l.reach = project.Of(dir, p.Home)
	}
	return l, err
}

// Options is what the configuration says of everything that changes a companion.
func Options(p *account.Place) compactor.Options {
	o, c := compactor.Defaults(), p.Config
	o.Redact = p.Agents.Redact.Version()
	if o.Host = c.Companion.Host; o.Host == "" {
		o.Host, _ = os.Hostname()
	}
	if o.MaxPart = c.Companion.MaxTokens.Part; o.MaxPart == 0 {
		o.MaxTokens = c.Companion.MaxTokens.N
	}
	o.Windows = c.Models.Windows
	o.Threshold, o.Pressure, o.MinSavings = int64(c.Trigger.Threshold.N), c.Trigger.Pressure, c.Trigger.MinSavings
	o.FileAge, o.TalkAge, o.Classes = c.Compaction.FileAge.Duration, c.Compaction.TalkAge.Duration, c.Compaction.Classes
	o.KeepImportance = c.Compaction.KeepImportance
	o.LongCap = c.Compaction.LongCap
	if args := c.Summarizer.Command; len(args) > 0 {
		o.Summarizer = summarizer.Command{Args: args}.Name()
	}
	return o
}

// narrow drops the sessions that are out of reach. A sub-agent, or a file that a session spilled, is where its session is.
func (l *Library) narrow(ctx context.Context) {
	if l.reach == nil {
		return
	}
	var out []*Entry
	for _, e := range l.Sessions {
		top := e
		for n, above := 0, l.Parent(e); above != nil && n < len(l.Sessions); n, above = n+1, l.Parent(above) { // two may name each other as parents
			top = above
		}
		if !l.reaches(ctx, top) {
			out = append(out, e)
		}
	}
	l.outside = len(out)
	for _, e := range out {
		delete(l.entries, e.Key)
	}
	l.Sessions = slices.DeleteFunc(l.Sessions, func(e *Entry) bool { return l.Entry(e.Key) == nil })
}

// reaches reports whether a session is in reach, or a file whose session is not archived yet: a hook archives a long output
// before the daemon has seen the session.
func (l *Library) reaches(ctx context.Context, e *Entry) bool {
	if slices.Contains(l.callers, cmp.Or(e.Parent, e.Name())) && l.reach.Has(e.Kept.Cwd) { // anybody can set the variable
		return true
	}
	if e.Class == transcript.Attachment {
		dir, _, _ := strings.Cut(e.Path, string(filepath.Separator)+e.Parent+string(filepath.Separator))
		key := transcript.Key{Agent: e.Agent, ID: e.Parent}
		return l.reach.Has(l.Began(ctx, transcript.Session{Key: key, Path: filepath.Join(dir, e.Parent+".jsonl")}))
	}
	if e.Kept.Start == "" { // the state is damaged or not made yet, or nothing tells
		return l.reach.Has(WorkingDir(ctx, l.Agents, e.Session.Session))
	}
	return l.reach.Has(e.Kept.Start)
}

// Began returns the directory in which a session began, by its transcript or, if that is gone, by what is kept of it; "" if neither tells.
// The name of the transcript's directory does not tell: two projects may have the same one.
func (l *Library) Began(ctx context.Context, s transcript.Session) string {
	if dir := WorkingDir(ctx, l.Agents, s); dir != "" {
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
func WorkingDir(ctx context.Context, agents registry.Table, s transcript.Session) string {
	for r, err := range agents.NewDecoder(s.Agent, s.Class).All(watcher.Tail(ctx, s, transcript.Cursor{}, watcher.TailOptions{})) {
		switch {
		case err != nil || r.Span.Off > maxFirst:
			return ""
		case r.Cwd != "":
			return filepath.Clean(r.Cwd)
		}
	}
	return ""
}

// Widen is the hint if an agent names something that is not found. It must not tell whether that is out of reach.
const Widen = "if it belongs to another project, ask the user to set reach = \"all\" below [agents] in ccd's configuration"

// ForAgent reports whether only the sessions in an agent's reach are given.
func (l *Library) ForAgent() bool { return l.reach != nil }

// Limited reports whether something that was not found may be out of reach.
func (l *Library) Limited() bool { return l.reach != nil && len(l.Sessions)+l.outside > 0 }

// Scope is where something was looked for.
func (l *Library) Scope() string {
	if l.Limited() {
		return " in this project's sessions"
	}
	return ""
}

// tellParents tells sessions when their sub-agents last wrote, and sub-agents when theirs did.
func (l *Library) tellParents() {
	for _, e := range l.Sessions {
		for above := l.Parent(e); e.Class == transcript.SubAgent && above != nil && above.Delegated.Before(e.Last()); above = l.Parent(above) {
			above.Delegated = e.Last()
		}
	}
}

// relate finds the originals of copies: of those that ccd made, and of copied files and forks that do not say so, which have the
// beginning of another session.
func (l *Library) relate() {
	alike := map[transcript.Key][]*Entry{} // by their beginning
	for _, e := range l.Sessions {
		if e.Kept.NotResumed() && e.Kept.Labels.IsZero() {
			e.CopyOf = l.CopiedFrom(e)
		}
		if e.Class == transcript.Main && e.Kept.Resumed.Records == 0 && e.Kept.Beginning != "" {
			key := transcript.Key{Agent: e.Agent, ID: e.Kept.Beginning}
			alike[key] = append(alike[key], e)
		}
	}
	rank := func(e *Entry) int { // a fork that says so is no original, nor is a file that was given to ccd compact
		if e.Root == "" {
			return 2
		}
		return min(len(e.Kept.Origin), 1)
	}
	for _, all := range alike {
		original := slices.MinFunc(all, func(a, b *Entry) int { // the name of a copy has something added to the original's
			return cmp.Or(rank(a)-rank(b), a.Last().Compare(b.Last()), strings.Count(a.ID, "/")-strings.Count(b.ID, "/"), len(a.ID)-len(b.ID), cmp.Compare(a.ID, b.ID))
		})
		for _, e := range all {
			if e != original {
				e.repeats(original)
			}
		}
	}
}

// repeats makes the session a copy of another one.
func (e *Entry) repeats(original *Entry) {
	e.Kept.Origin = cmp.Or(e.Kept.Origin, original.Name())
	if e.Kept.Labels.IsZero() && !e.Last().After(original.Last()) && e.within(original) {
		e.CopyOf = original
	}
}

// within reports whether another session has all that was asked and done in this one.
func (e *Entry) within(other *Entry) bool {
	own, err := e.Kept.Known.Did()
	theirs, others := other.Kept.Known.Did()
	has := map[int64]bool{}
	for _, d := range theirs {
		has[d.Key] = true
	}
	return errors.Join(err, others) == nil && !slices.ContainsFunc(own, func(d session.Deed) bool { return !has[d.Key] })
}

// maxBeside is how much of a file beside transcripts is read, in bytes.
const maxBeside = 8 << 20

// addFacts adds to the sessions what files beside their transcripts say and their records do not. What cannot be read is left out.
func (l *Library) addFacts() {
	if l.Machine != "" {
		return
	}
	read := map[string]map[string]transcript.Facts{}
	for _, e := range l.Sessions {
		if e.Path == "" || !e.Conversation() {
			continue
		}
		row, _ := l.Agents.Lookup(e.Agent)
		for _, index := range row.Beside {
			path, name := index.Of(e.Session.Session, e.Kept.Team)
			if _, known := read[path]; path != "" && !known {
				read[path] = nil
				if text, err := ownfile.Read(path, maxBeside); err == nil {
					read[path] = index.Read(text)
				}
			}
			e.know(read[path][name])
		}
	}
}

// know takes what the records of a session do not tell.
func (e *Entry) know(f transcript.Facts) {
	e.Kept.Title = cmp.Or(e.Kept.Title, f.Title)
	if e.Kept.Cwd == "" {
		e.Kept.Cwd, e.Kept.Start = f.Cwd, f.Cwd
	}
	if e.Parent == "" && f.Parent != e.ID {
		e.setParent(f.Parent)
	}
}

// lag returns how many bytes of a file of that size and time are not archived, where the session's file was. A file that is
// shorter than what is archived was replaced, and will be archived from its first byte. How much a compressed file holds is known
// only of the one that was archived; of another all its own bytes count.
func (e *Entry) lag(size int64, modified time.Time) int64 {
	switch archived := e.Tip().Offset; {
	case e.Kept.SkipReason != "", e.Packed && e.archivedAs(size, modified):
		return 0
	case e.Packed, size < archived:
		return size
	default:
		return size - archived
	}
}

// archivedAs reports whether the file was like that when it was last archived.
func (e *Entry) archivedAs(size int64, modified time.Time) bool {
	return e.Kept.Source.Size == size && e.Kept.Source.ModTime == modified.UnixNano()
}

// Lag returns how many bytes of the session's file are not archived, 0 where the file is gone.
func (e *Entry) Lag() int64 {
	lag, _ := e.File()
	return lag
}

// File returns how many bytes of the session's file are not archived, and whether the file is where it was last seen.
func (e *Entry) File() (lag int64, present bool) {
	if e.Machine != "" {
		return 0, false
	}
	info, err := os.Lstat(e.Path)
	if err != nil || !info.Mode().IsRegular() {
		return 0, err == nil
	}
	return e.lag(info.Size(), info.ModTime()), true
}

// Behind returns how many bytes of some sessions are not archived and will not be, as no daemon runs.
func (l *Library) Behind(of []*Entry) (lag int64) {
	if _, running, _ := daemon.ReadRun(l.StateDir); running { // valid in any case
		return 0
	}
	for _, e := range of {
		lag += e.Lag()
	}
	return lag
}

// Pending is what stands in files and not in the archive.
type Pending struct {
	Files  int       // that have changed since they were archived
	Bytes  int64     // of them that are not archived
	Oldest time.Time // modification time
}

// Behind counts the files, among those that the filter accepts (nil: all), that are not archived as they stand.
func Behind(found []watcher.Found, archived []*Entry, filter func(watcher.Found) bool) (p Pending) {
	byPath := make(map[string]*Entry, len(archived))
	for _, e := range archived {
		byPath[e.Path] = e
	}
	for _, f := range found {
		e, bytes, current := byPath[f.Path], f.Size, false
		if e != nil {
			bytes = e.lag(f.Size, f.ModTime)
			current = e.Kept.SkipReason != "" || bytes == 0 && e.archivedAs(f.Size, f.ModTime)
		} else if plain, packed := transcript.Unpacked(f.Path); packed {
			_, err := os.Lstat(plain)
			current = err == nil // that one is archived
		}
		if current || filter != nil && !filter(f) {
			continue
		}
		p.Files++
		p.Bytes += bytes
		if p.Oldest.IsZero() || f.ModTime.Before(p.Oldest) {
			p.Oldest = f.ModTime
		}
	}
	return p
}
