// Package doctor checks one account's setup of ccd and repairs what it can repair safely.
//
// Invariant: a check changes nothing and returns in time even if a disk hangs. A repair touches no transcript, no archive
// and no agent's settings, and removes nothing that ccd cannot write again. The package knows nothing of flags or of how
// findings are printed.
package doctor

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"ccd/cmd/ccd/internal/account"
	"ccd/cmd/ccd/internal/disk"
	"ccd/cmd/ccd/internal/install"
	"ccd/internal/words"
)

// Finding is the result of one check. State is "ok", "note" (worth knowing) or "wrong".
type Finding struct {
	Check   string `json:"check"`
	State   string `json:"state"`
	Detail  string `json:"detail"`
	Fix     string `json:"fix"`
	Fixable bool   `json:"fixable"` // the function Fix can repair it
	Fixed   bool   `json:"fixed"`   // the function Fix has just repaired it; Detail says how
	Lag     *int64 `json:"lag_bytes,omitempty"`

	repair func(context.Context) error // nil if there is no safe repair
	done   string                      // what repair does, in the past tense
}

func ok(check, detail string, args ...any) Finding {
	return Finding{Check: check, State: "ok", Detail: fmt.Sprintf(detail, args...)}
}

func note(check, fix, detail string, args ...any) Finding {
	return Finding{Check: check, State: "note", Detail: fmt.Sprintf(detail, args...), Fix: fix}
}

func wrong(check, fix, detail string, args ...any) Finding {
	return Finding{Check: check, State: "wrong", Detail: fmt.Sprintf(detail, args...), Fix: fix}
}

func one(f Finding) []Finding { return []Finding{f} }

// String is the finding with what to do.
func (f Finding) String() string {
	if f.Fix == "" {
		return f.Detail
	}
	return f.Detail + " (" + f.Fix + ")"
}

// by returns the finding with a repair.
func (f Finding) by(done string, repair func(context.Context) error) Finding {
	f.Fixable, f.done, f.repair = true, done, repair
	return f
}

// Worst returns the worst state among the findings.
func Worst(all []Finding) string {
	state := "ok"
	for _, f := range all {
		if f.State == "wrong" || f.State == "note" && state == "ok" {
			state = f.State
		}
	}
	return state
}

// Count returns the number of findings by state, as text.
func Count(all []Finding) string {
	n := map[string]int{}
	for _, f := range all {
		n[f.State]++
	}
	return fmt.Sprintf("%s, %s, %s", words.Count(len(all), "check"), words.Count(n["wrong"], "problem"), words.Count(n["note"], "note"))
}

// Doctor holds the input of Examine.
type Doctor struct {
	Env      account.Env
	Agents   *install.Setup // nil if unknown
	Version  string         // of this ccd
	Out      io.Writer
	Progress func(done, total int64)
}

// check is a row of the table of checks.
type check struct {
	name   string
	config bool                                    // it needs a configuration that can be read
	now    func(Facts) []Finding                   // of what is known at once: status makes it too
	look   func(context.Context, *facts) []Finding // of what takes time
}

// checks returns all checks in the order in which they are printed.
func checks() []check {
	return []check{
		{name: "config", now: Facts.config},
		{name: "roots", config: true, look: checkRoots},
		{name: "roots", now: Facts.closed},
		{name: "state", look: checkState},
		{name: "archive", config: true, now: Facts.archive},
		{name: "space", config: true, now: Facts.space},
		{name: "remote", now: Facts.remote},
		{name: "service", now: Facts.service},
		{name: "drift", now: Facts.place},
		{name: "drift", look: checkDrift},
		{name: "daemon", now: Facts.daemon},
		{name: "errors", now: Facts.failing},
		{name: "summarizer", config: true, now: Facts.Summarizer},
		{name: "program", look: checkProgram},
		{name: "agents", look: checkAgents},
		{name: "homes", config: true, look: checkHomes},
		{name: "lag", config: true, look: checkBehind},
		{name: "lag", config: true, now: Facts.strange},
		{name: "records", config: true, look: checkRecords},
		{name: "purge", config: true, look: checkPurge},
	}
}

// Findings returns what is known at once.
func (l Facts) Findings() (all []Finding) {
	for _, c := range checks() {
		if c.now != nil {
			all = append(all, c.now(l)...)
		}
	}
	return all
}

// Problems returns those of the findings that are wrong.
func Problems(all []Finding) []Finding {
	return slices.DeleteFunc(slices.Clone(all), func(f Finding) bool { return f.State != "wrong" })
}

// Examine makes the checks. If the configuration cannot be read, it makes only those that do not need it, with defaults.
func (d Doctor) Examine(ctx context.Context) (all []Finding) {
	p, bad := d.Env.Place(true)
	if bad != nil {
		var err error
		if p, err = d.Env.Defaults().Place(true); err != nil { // there is no home directory either
			return Facts{Wrong: bad}.config()
		}
	}
	f := d.gather(ctx, p, bad)
	table := slices.DeleteFunc(checks(), func(c check) bool { return c.config && bad != nil })
	for i, c := range table {
		d.Progress(int64(50+50*i/len(table)), 100)
		found, err := disk.Bounded(ctx, disk.Patience, func(ctx context.Context) ([]Finding, error) { return c.made(ctx, f), nil })
		if err != nil {
			found = one(wrong(c.name, "run ccd doctor again once the disk or service manager responds", "check abandoned: %v", err))
		}
		all = append(all, found...)
	}
	return all
}

func (c check) made(ctx context.Context, f *facts) []Finding {
	if c.now != nil {
		return c.now(f.Facts)
	}
	return c.look(ctx, f)
}

// Fix makes every repair once, in the order of the findings, and returns the repairs that succeeded. It calls say after each
// repair, with its error.
func Fix(ctx context.Context, all []Finding, say func(f Finding, err error)) (fixed []Finding) {
	tried := map[string]bool{}
	for _, f := range all {
		if f.repair == nil || tried[f.done] || ctx.Err() != nil {
			continue
		}
		tried[f.done] = true
		err := f.repair(ctx)
		done := Finding{Check: f.Check, State: "ok", Detail: f.done, Fixed: true}
		if say(done, err); err == nil {
			fixed = append(fixed, done)
		}
	}
	return fixed
}

// shown is how many findings of one kind are listed; the others are counted.
const shown = 5

// few keeps the first findings of one check and replaces the rest by their number.
func few(check, where string, all []Finding) []Finding {
	more := len(all) - shown
	if more <= 0 {
		return all
	}
	rest := Finding{Check: check, State: Worst(all[shown:]), Detail: strings.TrimSpace(words.Count(more, "more problem") + " " + where)}
	return append(all[:shown:shown], rest)
}
