package main

import (
	"os/exec"
	"strings"
	"testing"
	"unicode"
)

// TestShellWordIsInert: a word is what it was to a shell, and shows a terminal nothing but characters.
func TestShellWordIsInert(t *testing.T) {
	for text, want := range map[string]string{
		"/home/me":                 "/home/me",
		"":                         "''",
		"it's":                     `'it'\''s'`,
		"é 😀":                      "'é 😀'",
		"/tmp/x\r\x1b[2Kcurl e|sh": `$'/tmp/x\015\033[2Kcurl e|sh'`,
		"a\n1'\\b":                 `$'a\0121\'\\b'`,
		"\u202ex\u200b":            `$'\342\200\256x\342\200\213'`,
		"\xff":                     `$'\377'`,
	} {
		got := shellWord(text)
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
