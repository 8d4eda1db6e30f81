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

// check is one row of the table of checks. A row with config set is skipped if the configuration cannot be read.
type check struct {
	name   string
	look   func(context.Context, *facts) []Finding
	config bool
}

// checks returns all checks in the order in which they are printed.
func checks() []check {
	return []check{
		{"config", checkConfig, true},
		{"roots", checkRoots, true},
		{"state", checkState, false},
		{"archive", checkArchive, true},
		{"space", checkSpace, true},
		{"remote", checkRemote, true},
		{"service", checkService, false},
		{"daemon", checkDaemon, false},
		{"errors", func(_ context.Context, f *facts) []Finding { return f.failing() }, false},
		{"summarizer", checkSummarizer, true},
		{"program", checkProgram, false},
		{"agents", checkAgents, false},
		{"homes", checkHomes, true},
		{"lag", checkBehind, true},
		{"records", checkRecords, true},
		{"purge", checkPurge, true},
	}
}

// Examine runs the checks. If the configuration cannot be read, it runs only the checks that do not need it, with defaults.
func (d Doctor) Examine(ctx context.Context) []Finding {
	var all []Finding
	table := checks()
	p, err := d.Env.Place(true)
	if err != nil {
		all = []Finding{wrong("config", "`ccd config --default` prints a valid one", "%v", err)}
		if p, err = d.Env.Defaults().Place(true); err != nil {
			return all // there is no home directory either
		}
		table = slices.DeleteFunc(table, func(c check) bool { return c.config })
	}
	f := d.gather(ctx, p, len(all) > 0)
	for i, c := range table {
		d.Progress(int64(50+50*i/len(table)), 100)
		found, err := disk.Bounded(ctx, disk.Patience, func(ctx context.Context) ([]Finding, error) { return c.look(ctx, f), nil })
		if err != nil {
			found = []Finding{wrong(c.name, "run ccd doctor again once the disk or service manager responds", "check abandoned: %v", err)}
		}
		all = append(all, found...)
	}
	return all
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
