package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ccd/archive"
	"ccd/compactor"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// sessionOutput is a session as ls and status print it.
type sessionOutput struct {
	Agent       string             `json:"agent"`
	Session     string             `json:"session"`
	Damage      string             `json:"damage"`
	Parent      string             `json:"parent"`
	Project     string             `json:"project"`
	Title       string             `json:"title"`
	Last        *time.Time         `json:"last"`
	Records     int                `json:"records"`
	Bytes       int64              `json:"bytes"`
	Lag         int64              `json:"lag_bytes"`
	Generations int                `json:"generations"`
	Model       string             `json:"model"`
	Reported    int64              `json:"reported_tokens"`
	Estimate    int64              `json:"estimated_tokens"`
	About       int64              `json:"about_tokens"`
	Window      int64              `json:"context_window"`
	Assumed     bool               `json:"context_window_assumed"`
	Outliers    compactor.Outliers `json:"outliers"`
	Pressure    float64            `json:"pressure"`
	Level       string             `json:"level"`
	Trigger     string             `json:"trigger"`
	Original    int64              `json:"original_tokens"`
	Compacted   int64              `json:"companion_tokens"`
	Real        int64              `json:"companion_about"`
	Saved       float64            `json:"saved_percent"`
	Verified    bool               `json:"verified"`
	Companion   string             `json:"companion"`
	Foreign     bool               `json:"not_understood"`
	Skipped     string             `json:"skipped"`
	Resumed     string             `json:"resumed"`
	Source      string             `json:"source"`
	Present     bool               `json:"source_present"`
	Rewritten   *time.Time         `json:"rewritten"`
}

const sessionKeys = `agent, session, damage ("" where it can be read; else why not, and only agent and session are told),
parent, project, title, last, records, bytes, lag_bytes (bytes of the source that are not archived yet;
all bytes of a compressed source that has changed), generations, model,
reported_tokens, estimated_tokens, about_tokens (about how many real ones the estimated ones are),
context_window, context_window_assumed, outliers {reports, tokens} (reports of an impossible context or
window: ignored; what the last of them said, 0 for no count), pressure (of 1), level,
trigger ("" while none has fired), original_tokens and companion_tokens (estimated),
companion_about (its real tokens, about), saved_percent, verified, companion ("" while there is none),
not_understood (no record is of a known type: it gets no companion), skipped ("" where it is followed),
resumed (the ID of the session that ccd resume made it from, else ""), source, source_present,
rewritten (when the source was last found replaced or rewritten in place, else null)`

type lsFlags struct {
	all, size bool
	agent     string
}

func (a *app) lsCommand() *cobra.Command {
	p := page{
		use: "ls", group: everyday, short: "list the sessions: tokens, pressure, what was saved",
		forms: []string{"ccd ls [--all] [--agent AGENT]", "ccd ls --size"},
		long: `Newest first. TOKENS is what the agent's model reported last, else our estimate, marked est, and about
how many real tokens that is. PRESSURE is their share of the context window, (assumed) or * if the window
is not known; impossible token reports are ignored and listed. SAVED is how much smaller the companion is
than the original (estimate).

COMPANION is "yes", or "-" (no trigger has fired yet), "gone" (the file is missing), "unverified" (it
failed a check of its text, which its front matter names; the archive is not affected: if the companion
is not enough, use ccd timeline and ccd restore), "unknown format" (no record is of a known type), "not
followed" (--all: a summarizer's own session), "copy" (made by ccd resume, not resumed yet) or "damaged"
(the stored state of the session is damaged; the next ` + "`ccd run`" + ` repairs it).

SOURCE is "purged" if the agent removed the transcript; the archive has it. "65 B behind" means that 65
bytes of the transcript are not archived yet. Output is cut to the terminal's width. If sessions are
damaged, it lists the others, names the damaged ones on stderr and exits 4.`,
		examples: []example{
			{"ccd ls", "the sessions, newest first"},
			{"ccd ls --all", "with sub-agents under their parents, and what is not followed"},
			{"ccd ls --size", "bytes by project"},
			{"ccd ls --json | jq -r '.[] | select(.pressure > 0.6) | .session'", "the ones that are filling up"},
		},
		json: "one array, an object a session:\n" + sessionKeys +
			".\nWith --size: one array, an object a project: project, sessions, bytes, companions, last",
		exits: []int{exitDamage},
	}
	var f lsFlags
	c := p.command(cobra.NoArgs, func(c *cobra.Command, _ []string) error { return a.ls(c.Context(), f) })
	c.Flags().BoolVar(&f.all, "all", false, "sub-agents too, under their parents, and sessions that are not followed")
	c.Flags().BoolVar(&f.size, "size", false, "bytes by project instead")
	c.Flags().Var(agentName{&f.agent}, "agent", "only `AGENT`'s sessions ("+strings.Join(knownAgents(), ", ")+")")
	return c
}

func (a *app) ls(ctx context.Context, f lsFlags) error {
	l, err := a.library(ctx)
	if err != nil {
		return err
	}
	l.incomplete()
	if f.agent != "" {
		l.sessions = slices.DeleteFunc(l.sessions, func(e entry) bool { return e.Agent != f.agent })
	}
	if f.size {
		return a.lsSize(l)
	}
	rows := family(l.sessions, f.all)
	if a.json {
		all := make([]sessionOutput, 0, len(rows))
		for _, e := range rows {
			if e.StateDamage == nil { // else told with the damage
				all = append(all, e.output())
			}
		}
		return a.printJSON(append(all, l.unreadable()...))
	}
	if len(rows) == 0 && !a.damaged {
		a.say("nothing is archived yet; `ccd run --once` archives what there is, `ccd demo` shows how it goes")
		return nil
	}
	table, width := [][]string{{"AGENT", "SESSION", "PROJECT", "AGE", "TOKENS", "PRESSURE", "SAVED (est)", "COMPANION", "SOURCE"}}, a.width()
	for _, e := range rows {
		table = append(table, e.row(width > 0))
	}
	return a.table(fit(table, width, column{at: 2, least: 8}, column{at: 1, least: shortUUID}))
}

// unreadable are the sessions that are damaged; one without a name is damage that may hide others.
func (l *library) unreadable() (all []sessionOutput) {
	for _, err := range l.damage {
		var d *archive.DamageError
		if errors.As(err, &d) {
			all = append(all, sessionOutput{Agent: d.Session.Agent, Session: d.Session.ID, Damage: d.Error()})
		}
	}
	return all
}

// family orders sessions for people: main ones newest first, and with all each sub-agent below its parent.
func family(sessions []entry, all bool) []entry {
	children := map[transcript.Key][]entry{}
	var rows, orphans []entry
	known := map[transcript.Key]bool{}
	for _, e := range sessions {
		known[e.Key] = true
	}
	for _, e := range sessions {
		parent := transcript.Key{Agent: e.Agent, ID: e.Parent}
		switch {
		case e.state.Skipped != "" && !all:
		case e.Class == transcript.Main:
			rows = append(rows, e)
		case e.Class != transcript.SubAgent || !all:
		case known[parent]:
			children[parent] = append(children[parent], e)
		default:
			orphans = append(orphans, e)
		}
	}
	var ordered []entry
	for _, e := range rows {
		ordered = append(append(ordered, e), children[e.Key]...)
	}
	return append(ordered, orphans...)
}

func (e entry) output() sessionOutput {
	s := e.state
	return sessionOutput{
		Agent: e.Agent, Session: mark.Name(e.ID), Parent: mark.Name(e.Parent), Project: s.Cwd, Title: s.Title, Last: known(e.last()),
		Records: s.Records, Bytes: e.bytes(), Lag: e.lag(), Generations: len(e.Generations), Model: s.Model,
		Reported: s.Reported, Estimate: s.Estimate, About: s.About, Window: s.Window, Assumed: s.Assumed, Outliers: s.Outliers, Pressure: s.Pressure,
		Level: s.Level, Trigger: s.Fired, Original: s.Original, Compacted: s.Compacted, Real: s.Real, Saved: s.Saved,
		Verified: s.Verified, Companion: mark.Name(s.Companion), Foreign: s.Foreign, Skipped: s.Skipped, Resumed: s.Resumed.ID, Source: mark.Name(e.Path), Present: e.present(),
		Rewritten: known(s.Rewritten),
	}
}

// row is a line of the list; brief, for a terminal's width, has only the beginning of a UUID, which will do as a name.
func (e entry) row(brief bool) []string {
	id, pressure := mark.Inline(e.ID, maxName), e.pressure()
	if brief {
		id, pressure = shortID(e.ID), strings.Replace(pressure, " (assumed)", "*", 1)
	}
	if e.Class == transcript.SubAgent {
		id = "  " + id
	}
	saved, companion, source := "", "-", "present"
	if e.state.Companion != "" {
		saved, companion = fmt.Sprintf("%.1f%%", max(0, e.state.Saved)), "yes" // a tiny session's companion is longer than it
		if !e.state.Verified {
			companion = "unverified"
		}
		if !e.companion() {
			companion = "gone"
		}
	}
	if e.state.Skipped != "" && companion == "-" {
		companion = "not followed"
	}
	if e.state.Foreign {
		companion = "unknown format"
	}
	if e.StateDamage != nil {
		companion = "damaged"
	}
	if e.state.Idle() && companion == "-" {
		companion = "copy"
	}
	if lag := e.lag(); lag > 0 {
		source = humanize.IBytes(uint64(lag)) + " behind"
	}
	if !e.present() {
		source = "purged"
	}
	return []string{e.Agent, id, mark.Inline(e.state.Cwd, maxName), age(e.last()), e.tokens(), pressure, saved, companion, source}
}

const (
	shortUUID = 13   // characters of a UUID that name it
	maxName   = 4096 // characters of a name: all of it, for anybody's purposes
)

// shortID is enough of an ID to name the session: the beginning of a UUID.
func shortID(id string) string {
	if len(id) == 36 && strings.Count(id, "-") == 4 {
		return id[:shortUUID]
	}
	return mark.Inline(id, maxName)
}

// estimated tells an estimate, and about how many real tokens that is where it is known.
func estimated(tokens, about int64) string {
	if about == 0 {
		return humanize.Comma(tokens) + " est"
	}
	return humanize.Comma(tokens) + " est, about " + humanize.Comma(about)
}

func (e entry) tokens() string {
	if e.state.Reported > 0 {
		return humanize.Comma(e.state.Reported)
	}
	return estimated(e.state.Estimate, e.state.About)
}

func (e entry) pressure() string {
	text := fmt.Sprintf("%.2f", e.state.Pressure)
	if e.state.Assumed {
		text += " (assumed)"
	}
	return text + outlierNote(e.state.Outliers)
}

// outlierNote tells of reports that were ignored.
func outlierNote(o compactor.Outliers) string {
	if o.Reports == 0 {
		return ""
	}
	last := humanize.Comma(o.Tokens) + " tokens"
	if o.Tokens == 0 {
		last = "no valid count"
	}
	return fmt.Sprintf(", ignored %s of %s", count(o.Reports, "report"), last)
}

func (e entry) bytes() int64 {
	var n int64
	for _, g := range e.Generations {
		n += g.Tip.Offset
	}
	return n
}

// companion reports whether the session's companion stands where it was written, and can be read.
func (e entry) companion() bool { return e.state.Companion != "" && readable(e.state.Companion) == nil }

// present reports whether the transcript stands where it was last seen.
func (e entry) present() bool {
	_, err := os.Lstat(e.Path)
	return err == nil
}

type projectOutput struct {
	Project    string     `json:"project"`
	Sessions   int        `json:"sessions"`
	Bytes      int64      `json:"bytes"`
	Companions int        `json:"companions"`
	Last       *time.Time `json:"last"`
}

// lsSize adds up by project: a session's own working directory, for attachments and sub-agents their parent's.
func (a *app) lsSize(l *library) error {
	cwd := map[transcript.Key]string{}
	for _, e := range l.sessions {
		cwd[e.Key] = e.state.Cwd
	}
	at := map[string]*projectOutput{}
	all := []*projectOutput{}
	for _, e := range l.sessions {
		name := cmp.Or(cwd[transcript.Key{Agent: e.Agent, ID: e.Parent}], e.state.Cwd, "(unknown)")
		p := at[name]
		if p == nil {
			p = &projectOutput{Project: name}
			at[name], all = p, append(all, p)
		}
		p.Bytes += e.bytes()
		if e.Class != transcript.Attachment {
			p.Sessions++
		}
		if e.companion() {
			p.Companions++
		}
		if last := known(e.last()); last != nil && (p.Last == nil || last.After(*p.Last)) {
			p.Last = last
		}
	}
	slices.SortStableFunc(all, func(x, y *projectOutput) int { return cmp.Compare(y.Bytes, x.Bytes) })
	if a.json {
		return a.printJSON(all)
	}
	table := [][]string{{"PROJECT", "SESSIONS", "BYTES", "COMPANIONS", "AGE"}}
	for _, p := range all {
		last := "?"
		if p.Last != nil {
			last = age(*p.Last)
		}
		table = append(table, []string{
			mark.Inline(p.Project, maxName), fmt.Sprint(p.Sessions), humanize.IBytes(uint64(p.Bytes)), fmt.Sprint(p.Companions), last,
		})
	}
	return a.table(fit(table, a.width(), column{at: 0, least: 8}))
}
