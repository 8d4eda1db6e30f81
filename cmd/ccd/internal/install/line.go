package install

import (
	"errors"
	"fmt"

	"ccd/internal/words"
)

// statusLine is the member of Claude Code's settings that holds the command of its status line.
const statusLine = "statusLine"

var errOtherLine = errors.New("another status line is configured")

// lineOf returns the binary that a status line of ccd's starts; false where it is another one.
func lineOf(command string) (binary string, ok bool) {
	words, ok := called(command, 2)
	if !ok || words[1] != "statusline" {
		return "", false
	}
	return words[0], true
}

// lineCommand is the command of the status line, nil where there is none, and whether it is ccd's.
func (d *document) lineCommand() (command *node, ours bool) {
	command = d.root.get(statusLine, "command")
	_, ours = lineOf(d.string(command))
	return command, ours
}

// putLine adds the status line, or repairs it.
func (s *Setup) putLine(d, _ *document) error {
	there := d.root.get(statusLine)
	command, ours := d.lineCommand()
	line := s.command("statusline")
	switch {
	case ours && d.string(command) != line:
		return d.set(command, line)
	case ours:
		return nil
	case there != nil:
		return words.Hint(fmt.Errorf("read %s:%d: %w", d.path, d.line(there.at), errOtherLine),
			"remove it and try again, or call `ccd statusline` from it with the same stdin")
	}
	return d.add(object{{"type", "command"}, {"command", line}}, statusLine)
}

// takeLine removes the status line if it is ccd's.
func (d *document) takeLine(before *document) error {
	if _, ours := d.lineCommand(); !ours {
		return nil
	}
	if err := d.cut(d.root, d.root.index(statusLine)); err != nil {
		return err
	}
	return d.prune(before)
}
