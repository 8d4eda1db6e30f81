package top

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// shelf is a Feed of three sessions.
func shelf() Feed {
	return Feed{
		List: func(int) (List, error) {
			l := List{Head: []string{"ccd: 3 sessions", ""}}
			for _, name := range []string{"mill", "bread", "oven"} {
				l.Rows = append(l.Rows, Row{Key: name, Match: "Title of " + name, ID: name + "-id", Marked: name == "mill"})
			}
			l.Table = func(int) []string { return []string{"TITLE", "the mill", "the bread", "the oven"} }
			return l, nil
		},
		Text: func(key string, what rune) (string, error) {
			if what == Dropped {
				return "", errors.New("nothing was dropped")
			}
			return fmt.Sprintf("%s %c\n#1 asked [ccd 0123456789ab]\nlast line", key, what), nil
		},
		Original: func(key, id string) (string, error) { return "original " + id + " of " + key, nil },
	}
}

// play sends keys to a view of the shelf and returns its last screen and what it prints behind it. What runs beside the
// screen runs at once.
func play(t *testing.T, keys ...string) (screen, printed string) {
	t.Helper()
	m := &model{feed: shelf(), quit: make(chan string, 1)}
	send := func(msg tea.Msg) {
		_, cmd := m.Update(msg)
		for cmd != nil {
			switch msg := cmd().(type) {
			case ready:
				_, cmd = m.Update(msg)
			case listed:
				m.Update(msg) // the command is the next tick
				cmd = nil
			default:
				cmd = nil
			}
		}
	}
	send(tea.WindowSizeMsg{Width: 100, Height: 10})
	for _, k := range keys {
		msg := tea.KeyPressMsg{Text: k, Code: []rune(k)[0]}
		if code, ok := map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "down": tea.KeyDown, "backspace": tea.KeyBackspace}[k]; ok {
			msg = tea.KeyPressMsg{Code: code}
		}
		send(msg)
	}
	select {
	case printed = <-m.quit:
	default:
	}
	return strings.Join(m.lines(), "\n"), printed
}

func TestKeys(t *testing.T) {
	for _, c := range []struct {
		keys        string
		has, hasNot string
		printed     string
	}{
		{keys: "", has: "> the mill"},
		{keys: "down", has: "> the bread"},
		{keys: "j j j j", has: "> the oven"},
		{keys: "G k", has: "> the bread"},
		{keys: "down g", has: "> the mill"},
		{keys: "/ b r e a d", has: "/bread_   (1 of 1)", hasNot: "the oven"},
		{keys: "/ b r x backspace enter", has: "filter: br", hasNot: "the oven"},
		{keys: "/ b r esc", has: "the oven"},
		{keys: "/ b r enter esc", has: "the oven"},
		{keys: "/ z z z enter enter c d o r y", has: "0 of 0"},
		{keys: "down enter", has: "> bread "},
		{keys: "c", has: "mill c"},
		{keys: "d", has: "error: nothing was dropped"},
		{keys: "c down o", has: "original 0123456789ab of mill"},
		{keys: "c down enter", has: "original 0123456789ab of mill"},
		{keys: "c down o esc", has: "> #1 asked"},
		{keys: "c o", has: "mark a line with an ID"},
		{keys: "c esc", has: "> the mill"},
		{keys: "y", has: "copied mill-id"},
		{keys: "c down y", has: "copied 0123456789ab"},
		{keys: "down r", has: "r again: "},
		{keys: "down r q"},
		{keys: "down r up r", has: "r again: "},
		{keys: "down r r", printed: "bread"},
		{keys: "? r r esc", has: "> the mill"},
		{keys: "?", has: "copy the ID", hasNot: "the mill"},
	} {
		screen, printed := play(t, strings.Fields(c.keys)...)
		if !strings.Contains(screen, c.has) || c.hasNot != "" && strings.Contains(screen, c.hasNot) || printed != c.printed {
			t.Errorf("%q: printed %q, want %q, and %q, not %q, in\n%s", c.keys, printed, c.printed, c.has, c.hasNot, screen)
		}
		if n := strings.Count(screen, "\n") + 1; n > 10 {
			t.Errorf("%q: %d lines on a screen of 10", c.keys, n)
		}
	}
}

// TestListKeepsTheMark: a list that is read again keeps the marked session marked.
func TestListKeepsTheMark(t *testing.T) {
	m := &model{feed: shelf(), width: 60, height: 10}
	l, _ := m.feed.List(60)
	m.take(l)
	m.move(1)
	l.Rows = []Row{l.Rows[1], l.Rows[0], l.Rows[2]}
	m.take(l)
	if got := m.row().Key; got != "bread" || m.at != 0 {
		t.Errorf("marked %s at %d", got, m.at)
	}
}
