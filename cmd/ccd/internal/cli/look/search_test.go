package look

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"ccd/cmd/ccd/internal/account"
	"ccd/cmd/ccd/internal/cli"
	"ccd/cmd/ccd/internal/search"
)

// Matches are highlighted on a terminal only.
func TestMatchesAreMarked(t *testing.T) {
	var out bytes.Buffer
	a := &app{&cli.App{Std: cli.Std{Out: &out}, Env: account.Env{Vars: []string{"NO_COLOR="}}}}
	p := a.hitPrinter(nil, search.Query{Words: []string{"ink"}}, 1)
	if p.colour {
		t.Error("a buffer is taken for a terminal")
	}
	if got := p.marked("Ink, ink"); got != "Ink, ink" {
		t.Errorf("without colour: %q", got)
	}
	p.colour = true
	if got := p.marked("Ink, no"); got != "\x1b[1;31mInk\x1b[0m, no" {
		t.Errorf("with colour: %q", got)
	}
}

func TestQueryFromArguments(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"a", "b"}, "a|b"},
		{[]string{"a b", "c"}, "a b|c"},
		{[]string{`"a b" c`}, "a b|c"},
		{[]string{`f("a b")`}, `f("a b")`},
	} {
		q, err := searchFlags{}.query(c.args, time.Now())
		if got := strings.Join(q.Words, "|"); err != nil || got != c.want {
			t.Errorf("%q: %q, %v, want %q", c.args, got, err, c.want)
		}
	}
}
