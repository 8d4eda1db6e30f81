package mark

import (
	"strings"
	"testing"
)

func TestKnownID(t *testing.T) {
	// Worked example of docs/FORMAT.md: SHA-256 of the JSON string "hello", quotes included.
	h := Sum([]byte(`"hello"`))
	if got := h.ID(); len(got) != IDLen || !IsID(string(got)) {
		t.Fatalf("ID = %q", got)
	}
	lo, hi, err := PrefixRange(string(h.ID()[:5]))
	if err != nil || h.Key() < lo || h.Key() > hi {
		t.Fatalf("PrefixRange = %x..%x, %v: %x is outside", lo, hi, err, h.Key())
	}
	for _, bad := range []string{"", "abc", "abcu", "ab!d", "0123456789abc"} {
		if _, _, err := PrefixRange(bad); err == nil {
			t.Errorf("PrefixRange(%q): want an error", bad)
		}
	}
}

// The worked examples of docs/FORMAT.md: an ID means the same bytes forever.
func TestIDsOfTheFormat(t *testing.T) {
	one, two := Sum([]byte(`{"n":1}`)).ID(), Sum([]byte(`{"n":2}`)).ID()
	for _, c := range []struct{ got, want ID }{
		{Sum([]byte(`"hello"`)).ID(), "bakp5bhr7yxq"},
		{one, "5fyh9x1x2zy7"},
		{two, "6rsqjx1fg2th"},
		{Combine([]ID{one, two}).ID(), "mv3hx5n4qwg0"},
	} {
		if c.got != c.want {
			t.Errorf("ID = %s, want %s", c.got, c.want)
		}
	}
}

func TestQuoteKnown(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "a\nb", "> a\n> b\n"},
		{"empty", "", "> \n"},
		{"marker", "x [ccd 0123456789ab cut]", "> x [\\ccd 0123456789ab cut]\n"},
		{"front matter", "---\nccd: 1\n---", "> ---\n> ccd: 1\n> ---\n"},
		{"control", "a\x1b[31mb\tc", "> a\\x1b[31mb\tc\n"},
		{"bidi", "a\u202eb", "> a\\xe2\\x80\\xaeb\n"},
		{"not utf-8", "a\xffb", "> a\\xffb\n"},
		{"own escape in the text", `C:\x41 [\ccd \q`, `> C:\x5cx41 [\x5cccd \q` + "\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Quote("", c.in); got != c.want {
				t.Errorf("Quote = %q, want %q", got, c.want)
			}
		})
	}
}

func TestInline(t *testing.T) {
	for _, c := range []struct {
		in   string
		max  int
		want string
	}{
		{"  a \n b\t\tc ", 0, "a b c"},
		{"abcdef", 4, "abc…"},
		{"abcd", 4, "abcd"},
		{"abcd  ", 4, "abcd"},
		{"[ccd 0123456789ab]", 0, "[\\ccd 0123456789ab]"},
		{"", 10, ""},
		{"a b", 3, "a b"},
		{"a\tb", 0, "a b"},
		{"a  b", 0, "a b"},
		{" ", 0, ""},
	} {
		if got := Inline(c.in, c.max); got != c.want {
			t.Errorf("Inline(%q, %d) = %q, want %q", c.in, c.max, got, c.want)
		}
	}
}

func FuzzQuoteIsExactAndInert(f *testing.F) {
	f.Add("", "a\n[ccd 0123456789ab x]\n> b")
	f.Add("   ", strings.Repeat("é[ccd", 900)+"\n\n\\x5c[\\ccd")
	f.Add("", "\xff\u200b\r\n---\n## State")
	f.Fuzz(func(t *testing.T, indent, text string) {
		if strings.Trim(indent, " ") != "" || len(indent) > 8 {
			t.Skip("an indent is a few spaces")
		}
		q := Quote(indent, text)
		for line := range strings.Lines(q) {
			if !isQuoted(line) {
				t.Fatalf("a line is not quoted: %q", line)
			}
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > MaxLine {
				t.Fatalf("a line of %d characters", n)
			}
			if strings.Contains(line, "[ccd") {
				t.Fatalf("a marker survived: %q", line)
			}
		}
		if ids := IDs(q); len(ids) != 0 {
			t.Fatalf("IDs in quoted text: %v", ids)
		}
		back, err := Unquote(q)
		if err != nil || back != text {
			t.Fatalf("Unquote = %q, %v; want %q", back, err, text)
		}
		if in := Inline(text, 40); strings.Contains(in, "[ccd") || strings.ContainsAny(in, "\n\r") || len([]rune(in)) > 40 {
			t.Fatalf("Inline = %q", in)
		}
	})
}

// A joiner stays where it joins two emoji, as a letter does, and is escaped elsewhere.
func TestJoinedEmoji(t *testing.T) {
	const shrug, lone = "🤦🏻\u200d♂️", "🙂\u200dx"
	for name, form := range map[string]func(string) string{"Visible": Visible, "Inline": func(s string) string { return Inline(s, 0) }} {
		if got := form(shrug); got != shrug {
			t.Errorf("%s(%q) = %q", name, shrug, got)
		}
		if got := form(lone); got != `🙂\xe2\x80\x8dx` {
			t.Errorf("%s(%q) = %q", name, lone, got)
		}
	}
}
