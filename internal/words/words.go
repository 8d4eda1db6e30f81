// Package words says to people what the commands have in common: how many things, how long ago, how a name stands in a
// shell, and which command to try after an error.
package words

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// Count is a number of things: "1 session", "2 sessions".
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// Are is a number of things as the subject of a sentence: "1 file is", "2 files are".
func Are(n int, one, many string) string {
	if n == 1 {
		return "1 " + one + " is"
	}
	return fmt.Sprintf("%d %s are", n, many)
}

// Directory is the last part of a path of any system, and the one before it if only a hidden directory is between them: a worktree.
func Directory(path string) string {
	parts := elements(path)
	if n := len(parts); n > 2 && strings.HasPrefix(parts[n-2], ".") {
		return mark.Inline(parts[n-3]+"/"+parts[n-1], 0)
	}
	return mark.Inline(strings.Join(parts[max(0, len(parts)-1):], ""), 0)
}

// Directories returns the Directory of each path, or as many of its last parts as no other one of the paths has.
func Directories(paths []string) map[string]string {
	names := map[string]string{}
	left := slices.Compact(slices.Sorted(slices.Values(paths)))
	for n := 1; len(left) > 0; n++ {
		end := func(path string) string { all := elements(path); return strings.Join(all[max(0, len(all)-n):], "/") }
		count := map[string]int{}
		for _, path := range left {
			if names[path] = Directory(path); n > 1 {
				names[path] = mark.Inline(end(path), 0)
			}
			count[end(path)]++
		}
		left = slices.DeleteFunc(left, func(path string) bool { return count[end(path)] == 1 || n >= len(elements(path)) })
	}
	return names
}

// elements are the parts of a path of any system.
func elements(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' })
}

// Argument is a name as an argument of a command line that is pasted. One that begins with a hyphen would be taken for a
// flag, so it is last and follows "--".
func Argument(name string) string {
	if strings.HasPrefix(name, "-") {
		return "-- " + Shell(name)
	}
	return Shell(name)
}

// Shell quotes text as one word of a shell, where it needs it: a POSIX shell's, or where a character could move a
// terminal's cursor or turn its text around, one with escapes ($'...') as bash, zsh and ksh know them. A NUL, which no word has, is escaped
// as package mark does it.
func Shell(text string) string {
	if utf8.ValidString(text) && strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) < 0 {
		return transcript.ShellWord(text)
	}
	word, err := syntax.Quote(text, syntax.LangBash)
	if err != nil {
		return transcript.ShellWord(mark.Visible(text))
	}
	return word
}

// Version returns the version of this program: that of a release or, if release is "", the one in the build's information.
func Version(release string) string {
	if info, ok := debug.ReadBuildInfo(); ok && release == "" {
		return info.Main.Version
	}
	return release
}

// Exit codes.
const (
	ExitDone        = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitNotFound    = 3
	ExitDamage      = 4
	ExitInterrupted = 130
)

// UsageError is a command line that cannot be understood.
type UsageError struct{ error }

// Usage makes an error a UsageError.
func Usage(err error) error { return UsageError{err} }

// Unwrap returns the cause, never nil.
func (e UsageError) Unwrap() error { return e.error }

// Hint adds the command to try next to an error; nil stays nil. The result has a method Hint, as errors of packages below
// may have.
func Hint(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return hintError{err, fmt.Sprintf(format, args...)}
}

// HintOf returns the hint of an error, "" if it has none.
func HintOf(err error) string {
	var has interface{ Hint() string }
	if errors.As(err, &has) {
		return has.Hint()
	}
	return ""
}

type hintError struct {
	error
	hint string
}

// Unwrap returns the cause, never nil.
func (e hintError) Unwrap() error { return e.error }

// Hint returns the command to try.
func (e hintError) Hint() string { return e.hint }
