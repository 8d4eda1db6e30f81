package reader

import (
	"os"

	"ccd/cmd/ccd/internal/account"
	"ccd/compactor"
	"ccd/internal/summarizer"
)

// Open gives the sessions at a place, none of which is loaded yet. That there is no archive yet is no error. With forAgent
// they are only those in an agent's reach.
func Open(p *account.Place, forAgent bool) (*Library, error) {
	l := &Library{Place: p}
	for _, name := range []string{"CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID"} {
		if id := p.Env.Getenv(name); id != "" {
			l.callers = append(l.callers, id)
		}
	}
	if !forAgent {
		return l, nil
	}
	var err error
	l.reach, err = reachOf(p, l.callers)
	return l, err
}

// Options is what the configuration says of everything that changes a companion.
func Options(p *account.Place) compactor.Options {
	o, c := compactor.Defaults(), p.Config
	o.Redact = p.Agents.Redact.Version()
	o.Host = c.Companion.Host
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
	if o.Host == "" {
		if name, err := os.Hostname(); err == nil {
			o.Host = name
		}
	}
	return o
}
