package setup

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

// putLine adds the status line, repairs it or removes it, as the options say. Ours reports whether ccd's was there.
func (s *Setup) putLine(d, before *document) (ours bool, err error) {
	there := d.root.get(statusLine)
	command, ours := d.lineCommand()
	line := s.command("statusline")
	switch wanted := s.o.Line != nil && *s.o.Line; {
	case ours && s.o.Line != nil && !wanted:
		return true, d.takeLine(before)
	case ours && d.string(command) != line:
		return true, d.set(command, line)
	case ours || !wanted:
		return ours, nil
	case there != nil:
		return false, words.Hint(fmt.Errorf("read %s:%d: %w", d.path, d.line(there.at), errOtherLine),
			"remove it and try again, or call `ccd statusline` from it with the same stdin")
	}
	return false, d.add(object{{"type", "command"}, {"command", line}}, statusLine)
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

func (s *Setup) linePart(st *Status, p *Part, d *document) {
	there := d.root.get(statusLine)
	command, ours := d.lineCommand()
	switch {
	case there == nil:
		p.State = Missing
	case !ours: // an option that is not taken
		p.State, p.Detail = Missing, errOtherLine.Error()
	default:
		binary, _ := lineOf(d.string(command))
		st.name(s, binary)
		p.set([]string{d.string(command)}, 1, d.string(command) == s.command("statusline"))
	}
}
