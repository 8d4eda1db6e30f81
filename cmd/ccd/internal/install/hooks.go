package install

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"ccd/internal/words"
)

// call is one of ccd's hooks in a text.
type call struct {
	event           string
	at              jsontext.Pointer
	command, binary string
}

// calls finds ccd's hooks, and skips what does not have the form of a hook.
func (d *document) calls() (all []call) {
	for event, groups := range members(d.get("hooks")) {
		for g := range elements(groups) {
			for h, v := range elements(get(&elements(groups)[g], "hooks")) {
				command := stringOf(get(&v, "command"))
				if binary, ok := binaryOf(command); ok {
					all = append(all, call{event, pointer("hooks", event, strconv.Itoa(g), "hooks", strconv.Itoa(h)), command, binary})
				}
			}
		}
	}
	return all
}

// binaries returns the programs that ccd's hooks start.
func (d *document) binaries() (paths []string) {
	for _, c := range d.calls() {
		paths = append(paths, c.binary)
	}
	return paths
}

// hook makes each of an agent's events call ccd once.
func (s *Setup) hook(d *document, a agent) error {
	have, want := map[string]string{}, map[string]string{}
	for _, c := range d.calls() {
		have[c.event] += c.command // two are not the one that is wanted
	}
	for _, e := range a.Events {
		want[e.Client] = s.command("hook " + e.Name + " --agent " + a.id)
	}
	if maps.Equal(have, want) {
		return nil
	}
	d.unhook()
	for _, e := range a.Events {
		if err := d.put(map[string]any{"hooks": []any{command{"command", want[e.Client], e.Timeout}}}, "hooks", e.Client, "-"); err != nil {
			return err
		}
	}
	return nil
}

// command is a hook or a status line in a client's settings.
type command struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout,omitzero"`
}

// unhook removes ccd's hooks.
func (d *document) unhook() {
	for _, c := range slices.Backward(d.calls()) { // so that the indexes of the others stay valid
		d.remove(c.at)
	}
}

// statusLine is the member of Claude Code's settings that holds the command of its status line.
const statusLine = "statusLine"

var errOtherLine = errors.New("another status line is configured")

// lineBinary returns the binary that the status line starts, and whether the line is ccd's.
func (d *document) lineBinary() (binary string, ours bool) {
	return called(shellWords(strings.TrimSuffix(stringOf(d.get(statusLine, "command")), harmless)), "statusline")
}

// putLine adds the status line, or repairs it.
func (s *Setup) putLine(d *document) error {
	line := command{Type: "command", Command: s.command("statusline")}
	there := d.get(statusLine)
	switch _, ours := d.lineBinary(); {
	case ours && stringOf(get(there, "command")) == line.Command:
		return nil
	case ours:
		d.takeLine()
	case there != nil:
		return words.Hint(fmt.Errorf("read %s:%d: %w", d.path, d.line(there.StartOffset), errOtherLine),
			"remove it and try again, or call `ccd statusline` from it with the same stdin")
	}
	return d.put(line, statusLine)
}

// takeLine removes the status line if it is ccd's.
func (d *document) takeLine() {
	if _, ours := d.lineBinary(); ours {
		d.remove(pointer(statusLine))
	}
}
