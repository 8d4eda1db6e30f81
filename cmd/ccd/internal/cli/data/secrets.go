package data

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
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
[{record (0 in an attachment), id ("" outside the record's items)}],
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
	all, damage, err := a.secretsOf(ctx, l, in, agent)
	if err != nil {
		return err
	}
	out, last := []secretOutput{}, (*reader.Entry)(nil)
	for _, s := range all {
		out = append(out, secretOutput{s.e.Agent, mark.Name(s.e.ID), s.Secret, s.Forget(mark.Name(s.e.ID))})
		text := secretLines(l, s.e, s.Secret)
		if last != s.e {
			text = mark.Inline(s.e.ID, 0) + ", " + cli.SessionDetails(s.e) + "\n" + text
		}
		if last = s.e; !a.JSON {
			err = cmp.Or(err, a.Print(text))
		}
	}
	switch {
	case a.JSON:
		err = a.PrintJSON(out)
	case len(out) > 0:
		a.Say("an ID removes the whole item that has the secret, SESSION#N the whole record; the secret alone: ccd archive forget --match -, with it on stdin")
	}
	if err == nil && damage != nil {
		fmt.Fprintf(a.Err, "ccd: the list may be incomplete: %v\n", damage)
		err = cli.ErrDamaged
	}
	return err
}

// secretIn is a secret of a session.
type secretIn struct {
	e *reader.Entry
	reader.Secret
}

// secretsOf finds the secrets of sessions, and says how many were searched. damage is why some may be missing.
func (a *app) secretsOf(ctx context.Context, l *reader.Library, in []*reader.Entry, agent string) (all []secretIn, damage, err error) {
	in = slices.DeleteFunc(slices.Clone(in), func(e *reader.Entry) bool { return agent != "" && e.Agent != agent })
	show, wipe := a.Progress("searching:")
	defer wipe()
	var done, total int64
	for _, e := range in {
		total += e.Bytes()
	}
	skipped, with := 0, 0
	for _, e := range in {
		show(done, total)
		found, long, err := l.Secrets(ctx, e)
		switch {
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case errors.As(err, new(*archive.DamageError)):
			damage = err
		case err != nil:
			return nil, nil, err
		}
		for _, s := range found {
			all = append(all, secretIn{e, s})
		}
		done, skipped, with = done+e.Bytes(), skipped+long, with+min(1, len(found))
	}
	wipe()
	if skipped > 0 {
		a.Say("%s over 16 MB not searched", words.Count(skipped, "record"))
	}
	a.Say("%s searched: %s in %s", words.Count(len(in), "session"), words.Count(len(all), "secret"), words.Count(with, "session"))
	return all, damage, nil
}

// secretLines returns a secret in one line, and the command that removes it in a second one.
func secretLines(l *reader.Library, e *reader.Entry, s reader.Secret) string {
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
	arg := l.Argument(e)
	session := strings.TrimPrefix(arg, "--agent "+e.Agent+" ")
	forget := "ccd archive forget "
	if args := s.Forget(session); len(args) > mostForgets {
		forget += "--match -"
	} else {
		forget += strings.TrimSuffix(arg, session) + strings.Join(args, " ")
	}
	return fmt.Sprintf("  %s, %s: %s\n    %s\n", name, words.Count(s.Count, "time"), where, forget)
}
