package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dustin/go-humanize"

	"ccd/internal/remote"
	"ccd/internal/remote/pulled"
)

func size(n int64) string { return humanize.IBytes(uint64(max(n, 0))) }

// openBoth opens the store and this machine, which the caller closes.
func (a *app) openBoth() (settings, remote.Store, *remote.Machine, error) {
	s, store, err := a.open()
	if err != nil {
		return s, nil, nil, err
	}
	m, err := a.openMachine(s, store)
	return s, store, m, err
}

func (a *app) push(ctx context.Context, _ []string) error {
	s, _, m, err := a.openBoth()
	if err != nil {
		return err
	}
	defer m.Close()
	if a.newName {
		if err := m.Renew(); err != nil {
			return err
		}
	}
	p, err := m.Push(ctx)
	a.noteStatus(s, m, p, err)
	if err != nil {
		return err
	}
	for _, d := range p.Damaged {
		a.say("not pushed: %s", d)
	}
	if err := a.print(p, "pushed %d sessions, %s (%s encrypted, %d packs) as machine %s", p.Sessions, size(p.Bytes), size(p.Sent), p.Packs, p.Machine); err != nil {
		return err
	}
	if len(p.Damaged) > 0 {
		return errSaid
	}
	return nil
}

// noteStatus stores what a push did. A failure to do so does not fail the push.
func (a *app) noteStatus(s settings, m *remote.Machine, p remote.Pushed, failed error) {
	st, _ := pulled.ReadPush(a.dir)
	st.URL, st.Machine, st.Tried, st.Error, st.Damaged = s.URL, m.ID(), time.Now().UTC(), "", len(p.Damaged)
	if failed != nil {
		st.Error = failed.Error()
	} else {
		st.Pushed = st.Tried
	}
	if err := pulled.WritePush(a.dir, st); err != nil {
		a.say("%v", err)
	}
}

func (a *app) pull(ctx context.Context, args []string) error {
	_, store, err := a.open()
	if err != nil {
		return err
	}
	r, err := a.openReader(store)
	if err != nil {
		return err
	}
	only := ""
	if len(args) == 1 {
		only = args[0]
	}
	names, missing, err := r.Names(ctx)
	if err != nil {
		return err
	}
	known, err := pulled.List(a.machines())
	if err != nil {
		return err
	}
	chosen := map[string]bool{}
	for _, s := range pulled.Find(known, a.machine) {
		chosen[s.Machine] = true
	}
	for _, name := range names { // by its ID, which needs no head
		if len(pulled.Find([]pulled.Machine{{Machine: name}}, a.machine)) > 0 {
			chosen[name] = true
		}
	}
	st, err := pulled.ReadPush(a.dir)
	if err != nil {
		return err
	}
	all := []remote.Pulled{}
	var failed error
	for _, machine := range names {
		if machine == st.Machine && a.machine == "" { // its sessions are in the archive here
			continue
		}
		if a.machine != "" && len(chosen) > 0 && !chosen[machine] {
			continue
		}
		if a.machine != "" && len(chosen) == 0 {
			m, err := r.Known(ctx, machine)
			if err != nil || len(pulled.Find([]pulled.Machine{m}, a.machine)) == 0 {
				continue
			}
		}
		p, err := r.Pull(ctx, machine, only)
		if err != nil { // the others are not affected
			failed = errors.Join(failed, err)
			continue
		}
		all = append(all, p)
		a.say("%s (%.8s): %d sessions, %s new, %d removed", p.Label, p.Machine, p.Sessions, size(p.Bytes), p.Removed)
	}
	for _, machine := range missing {
		if a.machine == "" || chosen[machine] {
			failed = errors.Join(failed, fmt.Errorf("machine %s, seen before: %w: it is missing in the store", machine, remote.ErrLie))
		}
	}
	if failed == nil && len(all) == 0 && a.machine != "" {
		return fmt.Errorf("find machine %s: %w", a.machine, errUnknown)
	}
	var total remote.Pulled
	for _, p := range all {
		total.Sessions, total.Bytes = total.Sessions+p.Sessions, total.Bytes+p.Bytes
	}
	if err := a.print(all, "pulled %d sessions, %s of %d machines", total.Sessions, size(total.Bytes), len(all)); err != nil {
		return err
	}
	return failed
}

// statusOutput is what `ccd remote status --json` prints.
type statusOutput struct {
	pulled.Push
	Lag      remote.Lag       `json:"lag"`
	Machines []pulled.Machine `json:"machines"`
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
	out := statusOutput{Push: st}
	out.URL = s.URL
	if out.Machines, err = pulled.List(a.machines()); err != nil {
		return err
	}
	m, err := a.openMachine(s, nil)
	if err != nil {
		return err
	}
	defer m.Close()
	if out.Lag, err = m.Lag(ctx); err != nil {
		return err
	}
	text := fmt.Sprintf("remote   %s\nmachine  %s (%s)\npushed   %s", s.URL, m.ID(), a.host, ago(st.Pushed))
	text += fmt.Sprintf("\nbehind   %d sessions, %s", out.Lag.Sessions, size(out.Lag.Bytes))
	if st.Error != "" {
		text += fmt.Sprintf("\nfailed   %s: %s", ago(st.Tried), st.Error)
	}
	for _, one := range out.Machines {
		text += fmt.Sprintf("\nreads    %s (%.8s): %d sessions, %s, pulled %s, its last push %s", one.Label, one.Machine, one.Sessions, size(one.Bytes), ago(one.Pulled), ago(one.Time))
	}
	return a.print(out, "%s", text)
}

func ago(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return humanize.Time(t)
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
	if _, err := a.identities(); err == nil || a.identity != "" {
		r, err := a.openReader(store)
		if err != nil {
			return err
		}
		more, err := r.Check(ctx, a.sample)
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
	if err := a.print(out, "checked %d machines: %d packs, %d read and verified, %d problems", c.Machines, c.Packs, c.Read, len(c.Problems)); err != nil {
		return err
	}
	if len(c.Problems) > 0 {
		return errSaid
	}
	return nil
}

func (a *app) gc(ctx context.Context, _ []string) error {
	_, _, m, err := a.openBoth()
	if err != nil {
		return err
	}
	defer m.Close()
	c, err := m.GC(ctx, remote.GCOptions{Grace: a.grace, All: a.all})
	if err != nil {
		return err
	}
	for _, k := range c.Kept {
		a.say("kept %s", k)
	}
	if err := a.print(c, "wrote %d packs again as %d, deleted %d objects (%s), %d wait for the grace period", c.Rewritten, c.Packs, c.Deleted, size(c.Freed), c.Waiting); err != nil {
		return err
	}
	if len(c.Kept) > 0 {
		return hinted{fmt.Errorf("gc: %d packs with forgotten bytes cannot be written again", len(c.Kept)), "restore the sessions (ccd import FILE), then ccd remote gc"}
	}
	return nil
}
