package hook

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"ccd/compactor/sidecar"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// maxCompanion is the longest companion that is read, in bytes; no budget that a user would set makes one that long.
const maxCompanion = 8 << 20

// companion is one that was read and found whole.
type companion struct {
	sidecar.Parsed
	path    string
	session string
	now     string // its sections up to the conversation, with their headings
	last    int    // the number of the last record that it covers
}

// open reads the companion of s at path. It fails on one that is not ours, not whole, or another session's.
func open(path string, s transcript.Session) (companion, error) {
	text, err := read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return companion{}, nothing("no companion yet")
	case err != nil:
		return companion{}, fmt.Errorf("read companion: %w", err)
	}
	return parse(text, path, s)
}

// parse reads the text of the companion of s.
func parse(text []byte, path string, s transcript.Session) (companion, error) {
	p, err := sidecar.Parse(text)
	if err == nil {
		err = p.Check()
	}
	switch {
	case err != nil:
		return companion{}, fmt.Errorf("read companion: %w", err)
	case p.Fields["agent"] != s.Agent || p.Fields["session"] != mark.Name(s.ID):
		return companion{}, errors.New("read companion: it is another session's")
	case !clean(text):
		return companion{}, errors.New("read companion: it holds characters that ccd does not write")
	}
	return whole(p, path, s), nil
}

func whole(p sidecar.Parsed, path string, s transcript.Session) companion {
	c := companion{Parsed: p, path: path, session: s.ID, last: companion{Parsed: p}.records()}
	for _, section := range p.Sections {
		if section.Name == "Conversation" {
			break
		}
		c.now += "\n## " + section.Name + "\n" + section.Body
	}
	return c
}

// read returns a regular file's bytes. What waits, like a pipe, and what is too long is not opened.
func read(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	if info.Size() > maxCompanion {
		return nil, errors.New("too long")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if now, err := f.Stat(); err != nil || !os.SameFile(info, now) {
		return nil, errors.New("replaced meanwhile")
	}
	return io.ReadAll(io.LimitReader(f, maxCompanion))
}

// clean reports whether a text holds nothing that package mark would have escaped.
func clean(text []byte) bool {
	if !utf8.Valid(text) {
		return false
	}
	for line := range strings.Lines(string(text)) {
		for _, c := range []byte(strings.TrimSuffix(line, "\n")) {
			if c < 0x20 && c != '\t' || c == 0x7f {
				return false
			}
		}
	}
	return true
}

// pressure is the part of the context window that was in use; known is false where the window is only assumed.
func (c companion) pressure() (p float64, known bool) {
	p, err := strconv.ParseFloat(c.Fields["pressure"], 64)
	return p, err == nil && !strings.HasSuffix(c.Fields["context_window"], "(assumed)")
}

// records is how many records it covers, 0 where it does not tell.
func (c companion) records() int {
	front, _ := c.Front()
	return front.Records
}

// where names the companion for an agent: its path, or, where that cannot stand in a line as it is, how to get it.
func (h Hooks) where(c companion, most int) string {
	if c.path != "" && len(c.path) <= most && inline(c.path, 0) == c.path {
		return c.path
	}
	return "what `" + h.command("show", c.session) + "` prints"
}

// restore is the command that gives an original back.
func (h Hooks) restore() string { return h.command("restore", "ID") }

// command is a command line of ccd's commands for agents that the agent's shell takes: in a text, between backticks.
func (h Hooks) command(name, arg string) string {
	program := transcript.ShellWord(h.Program)
	if h.Program == "" || len(program) > 200 || strings.Contains(program, "`") || inline(program, 0) != program {
		program = "ccd"
	}
	if strings.HasPrefix(arg, "-") { // Claude Code names a project's directory so
		name += " --"
	}
	return program + " agent " + name + " " + inline(transcript.ShellWord(arg), 100)
}
