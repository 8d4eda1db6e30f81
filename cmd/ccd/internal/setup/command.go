package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"ccd/internal/transcript"
)

// hintedError adds the command to try next.
type hintedError struct {
	error
	hint string
}

// Unwrap returns the cause.
func (e hintedError) Unwrap() error { return e.error }

// Hint returns the command to try.
func (e hintedError) Hint() string { return e.hint }

func hinted(err error, format string, args ...any) error {
	return hintedError{err, fmt.Sprintf(format, args...)}
}

// Usable fails where an agent could not start the binary at path later on: it is not there, not executable, not
// absolute, it has a name that no settings can carry, or it stands where programs do not last, unless the home directory
// is as short-lived.
func Usable(path, home string) error {
	fail := func(cause error) error { return fmt.Errorf("use %s in an agent's settings: %w", path, cause) }
	if !filepath.IsAbs(path) {
		return fail(errors.New("the path is not absolute"))
	}
	if strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r == 0x7f }) || !utf8.ValidString(path) {
		return fail(errors.New("the path is not plain UTF-8 text"))
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return fail(err)
	case !info.Mode().IsRegular():
		return fail(errors.New("not a regular file"))
	case os.PathSeparator == '/' && info.Mode()&0o111 == 0:
		return hinted(fail(errors.New("not executable")), "chmod u+x %s", transcript.ShellWord(path))
	}
	if short(path) && !short(home) {
		return hinted(fail(errors.New("it is in a directory for temporary files")),
			"build it (go build -o ~/bin/ccd ./cmd/ccd) or install it, then run `agents install` from there")
	}
	return nil
}

// short reports whether what stands at path is soon removed: a build of `go run`, or something temporary.
func short(path string) bool {
	in := func(dir string) bool {
		rel, err := filepath.Rel(dir, path)
		return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
	}
	if in(os.TempDir()) || os.PathSeparator == '/' && (in("/tmp") || in("/var/tmp") || in("/dev/shm")) {
		return true
	}
	return slices.ContainsFunc(strings.Split(filepath.ToSlash(path), "/"), func(s string) bool { return strings.HasPrefix(s, "go-build") })
}

// shellWords takes a simple command apart as a shell would; false where it is not one: operators, variables, a quote
// without end.
func shellWords(command string) (words []string, ok bool) {
	var b strings.Builder
	var quote rune
	begun, escaped := false, false
	for _, r := range command {
		switch {
		case escaped:
			b.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			begun, escaped = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			b.WriteRune(r)
		case r == '\'' || r == '"':
			begun, quote = true, r
		case r == ' ' || r == '\t':
			if begun {
				words = append(words, b.String())
			}
			b.Reset()
			begun = false
		case strings.ContainsRune("\n;&|<>()$`#", r):
			return nil, false
		default:
			begun = true
			b.WriteRune(r)
		}
	}
	if begun {
		words = append(words, b.String())
	}
	return words, quote == 0 && !escaped
}

// harmless ends the command line of a hook: whatever becomes of ccd, the agent sees exit status 0, since others mean
// something to it (2 blocks the prompt or the tool), and a program that gets no memory, or is another one, may exit with any.
const harmless = " || :"

// binaryOf tells which ccd a hook at that event of the client's, "" for any, starts. It is one of ccd's only in the form that install writes, now or
// before: ABSOLUTE hook EVENT --agent AGENT [--config FILE] [|| :].
func binaryOf(command, event string) (path string, ok bool) {
	words, ok := called(command, 5)
	if !ok || words[1] != "hook" || words[3] != "--agent" || !hooked(words[4], event, words[2]) {
		return "", false
	}
	return words[0], true
}

// called takes apart a command line in the form that install writes: ABSOLUTE WORDS... [--config FILE] [|| :], of n words
// without the last two parts.
func called(command string, n int) (words []string, ok bool) {
	words, ok = shellWords(strings.TrimSuffix(command, harmless))
	if !ok || len(words) != n && (len(words) != n+2 || words[n] != "--config") || !absolute(words[0]) {
		return nil, false
	}
	return words, true
}

// hooked reports whether an agent's client calls ccd for its event, "" for any, with this name.
func hooked(agent, client, name string) bool {
	for _, f := range connectable() {
		events := f.Connect.Events
		if f.Connect.Live != nil {
			events = append(slices.Clone(events), *f.Connect.Live)
		}
		is := func(e transcript.Event) bool { return (client == "" || e.Client == client) && e.Name == name }
		if f.Agent == agent && slices.ContainsFunc(events, is) {
			return true
		}
	}
	return false
}

// serves reports whether an MCP server is ccd's: one that starts a program of that name, or this one, as install does.
func (s *Setup) serves(binary string, args []string) bool {
	if len(args) != 1 && (len(args) != 3 || args[1] != "--config") || args[0] != "mcp" {
		return false
	}
	return absolute(binary) && (named(binary) || binary == s.o.Executable)
}

// named reports whether a path is of a program called ccd.
func named(path string) bool {
	base := path[strings.LastIndexAny(path, `/\`)+1:]
	return base == "ccd" || base == "ccd.exe"
}

// absolute is filepath.IsAbs for the paths of any system: settings travel.
func absolute(path string) bool {
	return strings.HasPrefix(path, "/") || strings.HasPrefix(path, `\\`) || len(path) > 2 && path[1] == ':' && strings.ContainsRune(`/\`, rune(path[2]))
}

// alive reports whether a program can be started at path.
func alive(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && (os.PathSeparator != '/' || info.Mode()&0o111 != 0)
}

// same reports whether two paths lead to one file.
func same(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
