package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"ccd/archive"
	"ccd/internal/remote"
	"ccd/internal/remote/pulled"
	"ccd/internal/words"
)

func size(n int64) string { return humanize.IBytes(uint64(max(n, 0))) }

// openBoth opens the store and this machine, which the caller closes.
func (a *app) openBoth() (pulled.Settings, remote.Store, *remote.Machine, error) {
	s, store, err := a.open()
	if err != nil {
		return s, nil, nil, err
	}
	m, err := a.openMachine(s, store, 10*time.Second)
	return s, store, m, err
}

func (a *app) push(ctx context.Context, _ []string) error {
	s, _, m, err := a.openBoth()
	if err != nil {
		if s.URL != "" && !errors.Is(err, remote.ErrRunning) {
			a.noteStatus(ctx, s, nil, remote.Pushed{}, err)
		}
		return err
	}
	defer m.Close()
	p, err := m.Push(ctx)
	if ctx.Err() != nil { // interrupted, not failed
		return err
	}
	a.noteStatus(ctx, s, m, p, err)
	if err != nil {
		return err
	}
	p.Damaged = append([]string{}, p.Damaged...) // in JSON a list, also if empty
	for _, d := range p.Damaged {
		a.say("not pushed: %s", d)
	}
	text := "nothing new to push"
	if p.Packs > 0 || p.Sessions > 0 {
		text = fmt.Sprintf("pushed %s, %s (%s encrypted, %s)", words.Count(p.Sessions, "session"), size(p.Bytes), size(p.Sent), words.Count(p.Packs, "pack"))
	}
	if err := a.done(p, "%s as %s (%.8s)", text, a.host, p.Machine); err != nil {
		return err
	}
	if len(p.Damaged) > 0 {
		return words.Hint(errSaid, "ccd doctor")
	}
	return nil
}

// noteStatus stores what a push did. A failure to do so does not fail the push. m is nil if it could not be opened.
func (a *app) noteStatus(ctx context.Context, s pulled.Settings, m *remote.Machine, p remote.Pushed, failed error) {
	st, _ := pulled.ReadPush(a.dir)
	st.URL, st.Tried, st.Error, st.Damaged = s.URL, time.Now().UTC(), "", len(p.Damaged)
	if m != nil {
		st.Machine = m.ID()
	}
	if failed == nil {
		st.Behind = pulled.Lag{}
	} else if m != nil {
		st.Behind, _ = m.Lag(ctx) // as of the last time, if the archive cannot be read
	}
	if st.Exit, st.Hint = exitCode(failed), ""; failed != nil {
		st.Error, st.Hint = failed.Error(), a.hint(failed)
	} else {
		st.Pushed = st.Tried
	}
	if err := pulled.WritePush(a.dir, st); err != nil {
		a.say("%v", err)
	}
}

// chosen returns the machines to pull: those that --machine names, by ID or by label, else all but this one, whose sessions
// are in the archive here.
func (a *app) chosen(ctx context.Context, r *remote.Reader, names []string, own string) (chosen []string) {
	for _, name := range names {
		yes := name != own
		if a.Machine != "" {
			m, _ := r.Known(ctx, name) // a head that cannot be read has no label
			yes = len(pulled.Find([]pulled.Machine{m}, a.Machine)) > 0
		}
		if yes {
			chosen = append(chosen, name)
		}
	}
	return chosen
}

func (a *app) pull(ctx context.Context, _ []string) error {
	_, store, err := a.open()
	if err != nil {
		return err
	}
	r, err := a.openReader(store)
	if err != nil {
		return err
	}
	names, missing, err := r.Names(ctx)
	if err != nil {
		return err
	}
	known, err := pulled.List(a.machines())
	if err != nil {
		return err
	}
	st, err := pulled.ReadPush(a.dir)
	if err != nil {
		return err
	}
	all, failed := a.pullAll(ctx, r, a.chosen(ctx, r, names, st.Machine))
	var total remote.Pulled
	for _, p := range all {
		total.Sessions, total.Bytes = total.Sessions+p.Sessions, total.Bytes+p.Bytes
	}
	for _, m := range known {
		if slices.Contains(missing, m.Machine) && (a.Machine == "" || len(pulled.Find([]pulled.Machine{m}, a.Machine)) > 0) {
			failed = errors.Join(failed, words.Hint(fmt.Errorf("machine %s (%.8s), seen before: %w: it is missing in the store", cmp.Or(m.Label, "?"), m.Machine, remote.ErrBadCopy),
				"if someone has deleted it: rm %s*", words.Shell(strings.TrimSuffix(pulled.File(a.machines(), m.Machine), "json"))))
		}
	}
	if failed == nil && len(all) == 0 && a.Machine != "" {
		return words.Hint(fmt.Errorf("find machine %s: %w", a.Machine, errUnknown), "ccd remote status lists those that were pulled")
	}
	if err := a.done(all, "pulled %s, %s of %s", words.Count(total.Sessions, "session"), size(total.Bytes), words.Count(len(all), "machine")); err != nil {
		return err
	}
	return failed
}

// pullAll pulls machines. A failure of one does not affect the others, unless they need the same full disk.
func (a *app) pullAll(ctx context.Context, r *remote.Reader, machines []string) (all []remote.Pulled, failed error) {
	all = []remote.Pulled{} // in JSON a list, also if empty
	for _, machine := range machines {
		p, err := r.Pull(ctx, machine)
		failed = errors.Join(failed, err)
		switch {
		case errors.Is(err, archive.ErrFull):
			return all, failed
		case err != nil:
			continue
		}
		all = append(all, p)
		if p.Repaired {
			a.say("%s (%.8s): what was pulled before is damaged; all of it is read again", p.Label, p.Machine)
		}
		a.say("%s (%.8s): %s, %s new, %d removed", p.Label, p.Machine, words.Count(p.Sessions, "session"), size(p.Bytes), p.Removed)
	}
	return all, failed
}

// seenMachine is a machine that status lists.
type seenMachine struct {
	pulled.Machine
	Size int64 `json:"archive_bytes"` // of what was pulled, as a file
}

// statusOutput is what `ccd remote status --json` prints.
type statusOutput struct {
	pulled.Push
	Lag      pulled.Lag    `json:"lag"`
	Machines []seenMachine `json:"machines"`
}

// status makes no request.
func (a *app) status(ctx context.Context, _ []string) error {
	s, err := a.settings()
	if err != nil {
		return err
	}
	st, err := pulled.ReadPush(a.dir)
	if err != nil {
		return err
	}
	out := statusOutput{Push: st, Machines: []seenMachine{}}
	out.URL = s.URL
	known, err := pulled.List(a.machines())
	if err != nil {
		return err
	}
	for _, one := range known {
		out.Machines = append(out.Machines, seenMachine{one, pulled.Size(a.machines(), one.Machine)})
	}
	m, err := a.openMachine(s, nil, time.Second)
	running := ""
	switch {
	case errors.Is(err, remote.ErrRunning): // its figures are those of the push before
		out.Lag, running = st.Behind, " before the push that is running"
	case err != nil:
		return err
	default:
		defer m.Close()
		out.Machine = m.ID()
		if out.Lag, err = m.Lag(ctx); err != nil {
			return err
		}
	}
	return a.print(out, "%s", a.statusText(out, running))
}

// statusText returns the status for people. running is added to the lag.
func (a *app) statusText(out statusOutput, running string) string {
	text := fmt.Sprintf("remote   %s\nmachine  %s (%s)\npushed   %s", out.URL, cmp.Or(out.Machine, "-"), a.host, ago(out.Pushed))
	text += fmt.Sprintf("\nbehind   %s, %s%s", words.Count(out.Lag.Sessions, "session"), size(out.Lag.Bytes), running)
	if out.Error != "" {
		text += fmt.Sprintf("\nfailed   %s: %s", ago(out.Tried), out.Error)
		if out.Hint != "" {
			text += "\nhint     " + out.Hint
		}
	}
	for _, one := range out.Machines {
		text += fmt.Sprintf("\nreads    %s (%.8s): %s, %s, its last push %s, pulled %s, %s here", one.Label, one.Machine.Machine,
			words.Count(one.Sessions, "session"), size(one.Bytes), ago(one.Time), ago(one.Pulled), size(one.Size))
	}
	return text
}

func ago(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return words.Ago(t, time.Now())
}

func (a *app) check(ctx context.Context, _ []string) error {
	_, store, m, err := a.openBoth()
	if err != nil {
		return err
	}
	defer m.Close()
	c, err := m.Check(ctx)
	if err != nil {
		return err
	}
	if _, err := a.identities(); err == nil || a.Identity != "" {
		r, err := a.openReader(store)
		if err != nil {
			return err
		}
		more, err := r.Check(ctx, a.Sample)
		if err != nil {
			return err
		}
		more.Problems = append(c.Problems, more.Problems...)
		c = more
	} else {
		a.say("without an identity, only the names and sizes of this machine's objects were checked")
	}
	out := struct {
		remote.Checked
		Problems []string `json:"problems"`
	}{c, []string{}}
	for _, p := range c.Problems {
		out.Problems = append(out.Problems, p.Error())
		a.say("%v", p)
	}
	if err := a.done(out, "checked %s: %s, %d read and verified, %s", words.Count(c.Machines, "machine"), words.Count(c.Packs, "pack"), c.Read, words.Count(len(c.Problems), "problem")); err != nil {
		return err
	}
	if len(c.Problems) > 0 {
		return words.Hint(errSaid, "ccd remote check again; "+lost)
	}
	return nil
}

func (a *app) gc(ctx context.Context, _ []string) error {
	_, _, m, err := a.openBoth()
	if err != nil {
		return err
	}
	defer m.Close()
	c, err := m.GC(ctx, remote.GCOptions{Grace: a.Grace, All: a.All})
	if err != nil {
		return err
	}
	c.Kept = append([]string{}, c.Kept...)
	for _, k := range c.Kept {
		a.say("kept %s", k)
	}
	text := fmt.Sprintf("deleted %s (%s), %d wait for the grace period", words.Count(c.Deleted, "object"), size(c.Freed), c.Waiting)
	if c.Rewritten > 0 {
		text = fmt.Sprintf("wrote %s again as %d, %s", words.Count(c.Rewritten, "pack"), c.Packs, text)
	}
	if err := a.done(c, "%s", text); err != nil {
		return err
	}
	if c.Refused > 0 {
		return words.Hint(fmt.Errorf("gc: %s not deleted: %w", words.Are(c.Refused, "object", "objects"), c.Why),
			"use a key that has s3:DeleteObject and, if the bucket keeps versions, s3:DeleteObjectVersion, or wait until the bucket's locks end; "+
				"until then what was forgotten stays in the bucket, encrypted")
	}
	if len(c.Kept) > 0 {
		return words.Hint(fmt.Errorf("gc: %s with forgotten bytes cannot be written again", words.Count(len(c.Kept), "pack")), "restore the sessions (ccd archive import FILE), then ccd remote gc")
	}
	return nil
}
