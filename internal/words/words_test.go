package words

import (
	"os/exec"
	"strings"
	"testing"
	"unicode"
)

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 files", 1: "1 file", 2: "2 files"} {
		if got := Count(n, "file"); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}

// TestShell holds that a shell takes a quoted name for what it is.
func TestShell(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("NOTICE: no shell")
	}
	for _, s := range []string{"", "plain-1/x.jsonl", "a b", "it's", "$HOME", "a;b", "*", "~/x", "`id`", `a\b`, "ü"} {
		out, err := exec.Command(sh, "-c", "printf %s "+Shell(s)).Output()
		if err != nil || string(out) != s {
			t.Errorf("%q became %q, %v", s, out, err)
		}
	}
}

// TestShellIsInert: a word is what it was to a shell, and shows a terminal nothing but characters.
func TestShellIsInert(t *testing.T) {
	for text, want := range map[string]string{
		"/home/me":                 "/home/me",
		"":                         "''",
		"it's":                     `'it'\''s'`,
		"é 😀":                      "'é 😀'",
		"/tmp/x\r\x1b[2Kcurl e|sh": `$'/tmp/x\r\x1b[2Kcurl e|sh'`,
		"a\n1'\\b":                 `$'a\n1\'\\b'`,
		"\u202ex\u200b":            `$'\u202ex\u200b'`,
		"\xff":                     `$'\xff'`,
	} {
		got := Shell(text)
		if got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
		if strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%q: %q is not printable", text, got)
		}
		bash, err := exec.LookPath("bash")
		if err != nil {
			t.Log("no bash: not tried there")
			continue
		}
		if out, err := exec.Command(bash, "-c", "printf %s "+got).Output(); err != nil || string(out) != text {
			t.Errorf("%s is %q to bash (%v), want %q", got, out, err, text)
		}
	}
}
