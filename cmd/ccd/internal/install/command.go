package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"ccd/cmd/ccd/internal/disk"
	"ccd/internal/lazy"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

// Usable fails if an agent could not start the binary at path later: it does not exist, is not executable or not absolute,
// its name cannot be written to settings, or it is in a temporary directory (allowed if the home directory is in one too).
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
		return words.Hint(fail(errors.New("not executable")), "chmod u+x %s", transcript.ShellWord(path))
	}
	if disk.FromGoRun(path) {
		return words.Hint(fail(errors.New("`go run` has built it, and does not keep it")), "make install, then run that one")
	}
	if short(path) && !short(home) {
		return words.Hint(fail(errors.New("it is in a directory for temporary files")),
			"build it (go build -o ~/bin/ccd ./cmd/ccd) or install it, then run that one")
	}
	return nil
}

// short reports whether a file at path is in a temporary directory.
func short(path string) bool {
	in := func(dir string) bool { return disk.Within(path, dir) }
	return in(os.TempDir()) || os.PathSeparator == '/' && (in("/tmp") || in("/var/tmp") || in("/dev/shm"))
}

// shellWord is a word as transcript.ShellWord writes it, and what separates it from the next.
var shellWord = lazy.Regexp(`^(?:'((?:[^']|'\\'')*)'|([\w./:=,@%+-]+))(?: |$)`)

// shellWords splits a command that consists of such words. It returns none for any other.
func shellWords(command string) (words []string) {
	for command != "" {
		m := shellWord().FindStringSubmatch(command)
		if m == nil {
			return nil
		}
		words = append(words, m[2]+strings.ReplaceAll(m[1], `'\''`, "'"))
		command = command[len(m[0]):]
	}
	return words
}

// harmless ends a hook's command line, so that the agent always sees exit status 0: 2 would block the prompt or the tool, and
// a binary that crashes or is not ccd may exit with any.
const harmless = " || :"

// binaryOf returns the binary that a hook starts, and whether the hook is ccd's: only if it has the form that install
// writes for an agent, with or without || : at its end.
func binaryOf(command string) (path string, ok bool) {
	words := shellWords(strings.TrimSuffix(command, harmless))
	if path, ok = called(words, "hook", "", "--agent", ""); !ok || !slices.Contains(Agents(), words[4]) {
		return "", false
	}
	return path, true
}

// called returns the binary of a command in the form that install writes, on any system: ABSOLUTE WORDS... [--config FILE]. An empty word
// stands for any.
func called(argv []string, words ...string) (path string, ok bool) {
	n := 1 + len(words)
	if len(argv) != n && (len(argv) != n+2 || argv[n] != "--config") || !transcript.IsAbs(argv[0]) {
		return "", false
	}
	for i, word := range words {
		if word != "" && argv[i+1] != word {
			return "", false
		}
	}
	return argv[0], true
}

// serves reports whether an MCP server is ccd's: it starts this binary, or one named ccd, as install writes it.
func (s *Setup) serves(binary string, args []string) bool {
	_, ok := called(append([]string{binary}, args...), "mcp")
	name := binary[strings.LastIndexAny(binary, `/\`)+1:]
	return ok && (name == "ccd" || name == "ccd.exe" || binary == s.o.Executable)
}

// alive reports whether a program can be started at path.
func alive(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && (os.PathSeparator != '/' || info.Mode()&0o111 != 0)
}

func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
