package hook

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"ccd/compactor"
	"ccd/compactor/companion"
	"ccd/internal/mark"
	"ccd/internal/ownfile"
	"ccd/internal/transcript"
)

// maxCompanion is the size of the longest companion that is read, in bytes. No sensible budget makes a longer one.
const maxCompanion = 8 << 20

// companionFile is a companion that was companionFile and found intact.
type companionFile struct {
	front   companion.Matter // zero if there is no companion
	path    string
	session string
	now     string // the sections without the record, with their headings
	record  string // the body of the record
	last    int    // number of the last record that it covers
}

// open reads the companion of s at path. It fails if ccd did not write the file, if it is damaged or of another session.
func open(path string, s transcript.Session) (companionFile, error) {
	ours, err := companion.Ours(path)
	var text []byte
	if err == nil && ours {
		text, err = ownfile.Read(path, maxCompanion)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return companionFile{}, nothing("no companion yet")
	}
	var p companion.Parsed
	if err == nil {
		p, err = companion.Parse(text)
	}
	if err == nil {
		err = p.Check()
	}
	if err != nil {
		return companionFile{}, fmt.Errorf("read companion: %w", err)
	}
	c := companionFile{path: path, session: s.Name()}
	c.front, _ = p.Front() // a companion of an older ccd may lack fields that are not used here
	c.last = c.front.Covers.Records
	if c.front.Agent != s.Agent || c.front.Session != mark.Name(s.Name()) {
		return companionFile{}, errors.New("read companion: it belongs to another session")
	}
	for _, section := range p.Sections {
		if section.Name == compactor.Record {
			c.record = section.Body
			continue
		}
		c.now += "\n## " + section.Name + "\n" + section.Body
	}
	return c, nil
}

// companion opens the companion of a session.
func (h Hooks) companion(s transcript.Session) (companionFile, error) {
	return open(companion.Path(s, h.CompanionDir), s)
}

// where returns the companion's path or, if the path is too long or needs escaping, the command that prints the companion.
func (h Hooks) where(c companionFile, most int) string {
	if c.path != "" && len(c.path) <= most && inline(c.path, 0) == c.path {
		return c.path
	}
	return "what `" + h.command("show", c.session) + "` prints"
}

// restore returns the command that restores an original.
func (h Hooks) restore() string { return h.command("restore", "ID") }

// command returns a command line of `ccd agent` that can be placed between backticks and run by the agent's shell.
func (h Hooks) command(name, arg string) string {
	program := transcript.ShellWord(h.Program)
	if h.Program == "" || len(program) > 200 || strings.Contains(program, "`") || inline(program, 0) != program {
		program = "ccd"
	}
	if strings.HasPrefix(arg, "-") { // Claude Code's project directories begin with a dash
		name += " --"
	}
	return program + " agent " + name + " " + inline(transcript.ShellWord(arg), 100)
}
