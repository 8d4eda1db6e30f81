package data

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"ccd/archive"
	"ccd/cmd/ccd/internal/cli"
	"ccd/cmd/ccd/internal/reader"
	"ccd/internal/mark"
	"ccd/internal/words"
)

const (
	mostPlaces  = 3 // listed of a secret; --json lists all
	mostForgets = 8 // arguments of one ccd archive forget
)

type secretOutput struct {
	Agent   string `json:"agent"`
	Session string `json:"session"`
	reader.Secret
	Forget []string `json:"forget"`
}

func (a *app) secretsCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "secrets [SESSION]", Short: "list where archived sessions have secrets, without their text",
		Long: `Lists the secrets of SESSION, or of all sessions, newest first: the kind and
number that ccd prints instead, the count, the records and IDs, and the
command that removes them. It never prints a secret: ` + "`ccd restore ID`" + ` prints
the item with its secrets. ` + "`[redact] allow`" + ` in the configuration stops the
redaction of a false hit.

ccd archive forget ID removes a whole item, ccd archive forget SESSION#N a whole
record. To remove only a secret that you know, pass it to ccd archive forget
--match - on stdin. A removed secret may still be valid: replace it where it is
used.

With --json: one array, an object per secret of a session: agent, session,
kind, n (its number within the kind; 0 if unknown), generation, count, places
[{record (null in an attachment), id (null outside the record's items)}],
forget (arguments of ccd archive forget)`,
		Example: `  ccd archive secrets
      all sessions
  ccd archive secrets latest
      the session with the newest record
  ccd archive secrets --json | jq -r '.[].kind' | sort | uniq -c
      how many of each kind`,
	}
	var agent string
	c.Args = cli.OneSession
	c.RunE = func(c *cobra.Command, args []string) error { return a.secrets(c.Context(), args, agent) }
	a.AgentFlag(c, &agent)
	a.MachineFlag(c)
	return c
}

func (a *app) secrets(ctx context.Context, args []string, agent string) error {
	l, err := a.Library(ctx)
	if err != nil {
		return err
	}
	if l.Agents.Redact == nil {
		return words.Hint(errors.New("list secrets: redaction is off ([redact] secrets = false)"), "CCD_REDACT_SECRETS=true ccd archive secrets")
	}
	in := l.Sessions
	if len(args) > 0 {
		e, err := a.Choose(ctx, l, args[0], agent)
		if err != nil {
			return err
		}
		in = []*reader.Entry{e}
	} else {
		a.Incomplete(l)
	}
	p := secretPrinter{app: a, library: l, out: []secretOutput{}}
	if err := p.all(ctx, in, agent); err != nil {
		return err
	}
	if a.JSON {
		err = a.PrintJSON(p.out)
	}
	if err == nil && p.damage != nil {
		fmt.Fprintf(a.Err, "ccd: the list may be incomplete: %v\n", p.damage)
		err = cli.ErrDamaged
	}
	return err
}

// secretPrinter prints the secrets of one session after the other.
type secretPrinter struct {
	*app
	library  *reader.Library
	out      []secretOutput
	sessions int // that were searched
	with     int // sessions with secrets
	found    int // secrets
	long     int // records that were not searched
	damage   error
}

func (p *secretPrinter) all(ctx context.Context, in []*reader.Entry, agent string) error {
	show, wipe := p.Progress("searching:")
	defer wipe()
	var done, total int64
	for i := range in {
		total += in[i].Bytes()
	}
	for _, e := range in {
		if agent != "" && e.Agent != agent {
			continue
		}
		show(done, total)
		found, long, err := p.library.Secrets(ctx, e)
		var damage *archive.DamageError
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &damage):
			p.damage = err
		case err != nil:
			return err
		}
		p.sessions, p.long, p.found, done = p.sessions+1, p.long+long, p.found+len(found), done+e.Bytes()
		if len(found) == 0 {
			continue
		}
		p.with++
		wipe()
		if err := p.session(e, found); err != nil {
			return err
		}
	}
	wipe()
	if p.long > 0 {
		p.Say("%s over 16 MB not searched", words.Count(p.long, "record"))
	}
	p.Say("%s searched: %s in %s", words.Count(p.sessions, "session"), words.Count(p.found, "secret"), words.Count(p.with, "session"))
	return nil
}

func (p *secretPrinter) session(e *reader.Entry, found []reader.Secret) error {
	if !p.JSON {
		if err := p.Print(mark.Inline(e.ID, 0) + ", " + cli.SessionDetails(e) + "\n"); err != nil {
			return err
		}
	}
	for _, s := range found {
		if p.JSON {
			p.out = append(p.out, secretOutput{e.Agent, mark.Name(e.ID), s, s.Forget(mark.Name(e.ID))})
		} else if err := p.Print(p.lines(e, s)); err != nil {
			return err
		}
	}
	return nil
}

// lines returns a secret in one line, and the command that removes it in a second one.
func (p *secretPrinter) lines(e *reader.Entry, s reader.Secret) string {
	name := s.Kind
	if s.N > 0 {
		name += fmt.Sprintf(" %d", s.N)
	}
	var places []string
	for i, at := range s.Places {
		if i == mostPlaces {
			places = append(places, fmt.Sprintf("%d more", len(s.Places)-i))
			break
		}
		var parts []string
		if at.Record > 0 {
			parts = append(parts, fmt.Sprintf("#%d", at.Record))
		}
		if at.ID != "" {
			parts = append(parts, string(at.ID))
		}
		places = append(places, strings.Join(parts, " "))
	}
	where := strings.Join(places, ", ")
	if s.Generation != e.Tip().Generation {
		where += fmt.Sprintf(" (generation %d)", s.Generation)
	}
	arg := p.library.Argument(e)
	session := strings.TrimPrefix(arg, "--agent "+e.Agent+" ")
	forget := "ccd archive forget "
	if args := s.Forget(session); len(args) > mostForgets {
		forget += "--match -"
	} else {
		forget += strings.TrimSuffix(arg, session) + strings.Join(args, " ")
	}
	return fmt.Sprintf("  %s, %s: %s\n    %s\n", name, words.Count(s.Count, "time"), where, forget)
}
