package main

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"ccd/cmd/ccd/internal/history"
	"ccd/internal/agent/registry"
	"ccd/internal/transcript"
)

// count tells a number of things: "1 session", "2 sessions".
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// shellWord quotes text as one word of a shell, where it needs it: a POSIX shell's, or where a character could move a
// terminal's cursor or turn its text around, one with escapes ($'...') as bash, zsh and ksh know them.
func shellWord(text string) string {
	if utf8.ValidString(text) && strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) < 0 {
		return transcript.ShellWord(text)
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == '\'' || r == '\\':
			b.WriteString(`\` + string(r))
		case r == utf8.RuneError && size == 1 || !unicode.IsPrint(r):
			for _, c := range []byte(text[i : i+size]) {
				fmt.Fprintf(&b, `\%03o`, c) // three digits, so that none of what follows is taken for one of them
			}
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return "$'" + b.String() + "'"
}

// argument is a session as a hint's command line names it: it must work when it is pasted. A name that begins with a
// hyphen would be taken for a flag, and one that two agents use needs its agent.
func (l *library) argument(e entry) string {
	arg := shellWord(e.ID)
	if strings.HasPrefix(arg, "-") {
		arg = "-- " + arg
	}
	for _, other := range l.sessions {
		if other.ID == e.ID && other.Agent != e.Agent {
			return "--agent " + e.Agent + " " + arg
		}
	}
	return arg
}

// resolveHint says what to add to an argument that names no session, or several.
func (l *library) resolveHint(arg string, err error) error {
	var several *history.AmbiguousError
	switch {
	case !errors.As(err, &several) && l.limited():
		err = fmt.Errorf("%w%s", err, l.scope())
		if arg == "latest" {
			return err
		}
		return hint(err, widen)
	case len(l.sessions) == 0:
		return hint(err, "ccd run --once (nothing is archived yet)")
	case !errors.As(err, &several):
		return hint(err, "ccd ls --all")
	}
	agents, dirs := map[string]int{}, map[string]int{}
	for _, c := range several.Sessions {
		agents[c.Agent]++
		dirs[c.Cwd]++
	}
	latest := arg == "latest" || strings.HasPrefix(arg, "latest:")
	for _, c := range several.Sessions {
		if len(agents) > 1 && agents[c.Agent] == 1 {
			return hint(err, "add --agent %s", c.Agent)
		}
		if latest && c.Cwd != "" && len(dirs) > 1 && dirs[c.Cwd] == 1 {
			return hint(err, "%s instead of %s", shellWord("latest:"+c.Cwd), arg)
		}
	}
	if e, ok := l.entry(several.Sessions[0].Key); ok {
		return hint(err, "name it whole, such as %s", l.argument(e))
	}
	return hint(err, "ccd ls --all")
}

// agentName is the value of --agent: one of the agents whose transcripts are known.
type agentName struct{ to *string }

// String implements pflag.Value.
func (a agentName) String() string {
	if a.to == nil {
		return ""
	}
	return *a.to
}

// Type implements pflag.Value.
func (agentName) Type() string { return "AGENT" }

// Set implements pflag.Value.
func (a agentName) Set(name string) error {
	known := knownAgents()
	for _, k := range known {
		if k == name {
			*a.to = name
			return nil
		}
	}
	return fmt.Errorf("unknown agent, want one of %s", strings.Join(known, ", "))
}

func knownAgents() []string {
	var names []string
	for _, f := range registry.All() {
		names = append(names, f.Agent)
	}
	return append(names, transcript.Messages)
}

// flagError tells a flag's bad value in words of the command line, not of the parser.
func flagError(err error) error {
	var bad *pflag.InvalidValueError
	if !errors.As(err, &bad) {
		return err
	}
	cause := bad.Unwrap()
	switch bad.GetFlag().Value.Type() {
	case "int", "int64":
		cause = errors.New("not a whole number")
	case "bool":
		cause = errors.New("not true or false")
	}
	return fmt.Errorf("--%s %q: %w", bad.GetFlag().Name, bad.GetValue(), cause)
}
