package packaging

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// unitWords splits a value as systemd does: quotes, backslashes, then specifiers and, in arguments, variables.
func unitWords(line string, argument bool) (words []string) {
	var w strings.Builder
	var quote byte
	in := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\\':
			i++
			w.WriteByte(line[i])
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote, in = c, true
		case quote == 0 && c == ' ':
			if in {
				words = append(words, w.String())
			}
			w.Reset()
			in = false
		default:
			w.WriteByte(c)
			in = true
		}
	}
	if in {
		words = append(words, w.String())
	}
	for i := range words {
		words[i] = strings.ReplaceAll(words[i], "%%", "%")
		if argument {
			words[i] = strings.ReplaceAll(words[i], "$$", "$")
		}
	}
	return words
}

// FuzzUnitWord holds that what goes into a unit is what systemd reads out of it: one word, the same.
func FuzzUnitWord(f *testing.F) {
	for _, s := range []string{"/usr/bin/ccd", "/a b/c", `/a"b`, `/a\b`, "/50%h", "$HOME/x", "/a;b", ";", "it's", `\`, "$$", "%%", "${A}", "ü"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if s == "" || strings.ContainsFunc(s, isControl) || !utf8.ValidString(s) {
			t.Skip("refused before it comes to this")
		}
		for _, argument := range []bool{false, true} {
			line := unitWord(s, argument)
			if got := unitWords(line+" next", argument); len(got) != 2 || got[0] != s {
				t.Errorf("%q, argument %v: written %s, read %q", s, argument, line, got)
			}
		}
	})
}

func TestPulseReadsWhatTheManagerWants(t *testing.T) {
	own := strconv.Itoa(os.Getpid())
	tests := []struct {
		name              string
		socket, usec, pid string
		every             time.Duration
	}{
		{"watched", "/run/notify", "60000000", own, 20 * time.Second},
		{"watched, no process named", "/run/notify", "60000000", "", 20 * time.Second},
		{"another process is", "/run/notify", "60000000", "1", 0},
		{"not watched", "/run/notify", "", "", 0},
		{"no number", "/run/notify", "soon", own, 0},
		{"below zero", "/run/notify", "-3000000", own, 0},
		{"nobody listens", "", "60000000", own, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("NOTIFY_SOCKET", tt.socket)
			t.Setenv("WATCHDOG_USEC", tt.usec)
			t.Setenv("WATCHDOG_PID", tt.pid)
			if got := NewPulse().Every(); got != tt.every {
				t.Errorf("every %v, want %v", got, tt.every)
			}
		})
	}
}
