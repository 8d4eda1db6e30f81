// Package picker lets a person choose one of several lines on a terminal: typing filters them, the arrow keys move, Enter
// chooses, Esc cancels.
//
// Invariant: it draws on the terminal that it is given, on a screen of its own, and leaves nothing there. It knows
// nothing of what the lines are about; its caller has escaped them.
package picker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"
	"github.com/sahilm/fuzzy"
)

// ErrCanceled tells that the person chose nothing.
var ErrCanceled = errors.New("canceled")

// Choice is what a person chooses from.
type Choice struct {
	Lines func(width int) []string // a heading, then a line for each choice, of at most width cells
	Match []string                 // the text of each choice that is filtered
}

// endSoon limits how long Run waits for the screen to be restored: a terminal that takes no output blocks Bubble Tea
// forever.
const endSoon = 500 * time.Millisecond

// Pick returns the number of the chosen line, counted from 0 without the heading. It fails with ErrCanceled, when ctx ends,
// or where the terminal cannot be drawn on.
func Pick(ctx context.Context, in, out *os.File, env []string, c Choice) (int, error) {
	m := &model{choice: c, quit: make(chan int, 1)}
	m.filter()
	n, ok, err := Run(ctx, in, out, env, m, m.quit)
	switch {
	case err != nil:
		return 0, err
	case !ok || n == canceled:
		return 0, ErrCanceled
	}
	return n, nil
}

// Run draws a model on a terminal until it quits or ctx ends, and returns what it sent on quit, which must have room for one
// value; ok is false if it sent nothing.
func Run[T any](ctx context.Context, in, out *os.File, env []string, m tea.Model, quit chan T) (got T, ok bool, err error) {
	before, stateErr := term.GetState(in.Fd())
	p := tea.NewProgram(m, tea.WithInput(in), tea.WithOutput(out), tea.WithEnvironment(env), tea.WithoutSignalHandler(), tea.WithFilter(sized))
	ended := make(chan error, 1)
	go func() {
		_, err := p.Run()
		ended <- err
	}()
	select {
	case err = <-ended:
		ended <- nil
	case got = <-quit:
		ok = true
	case <-ctx.Done():
		go p.Quit() // a context of Bubble Tea's would close the terminal while it is read
	}
	select {
	case <-ended:
	case <-time.After(endSoon):
		if stateErr == nil {
			_ = term.Restore(in.Fd(), before)
		}
	}
	if !ok {
		select {
		case got = <-quit:
			ok = true
		default:
		}
	}
	switch {
	case ctx.Err() != nil:
		return got, ok, ctx.Err()
	case err != nil:
		return got, ok, fmt.Errorf("draw on terminal: %w", err)
	}
	return got, ok, nil
}

// canceled is sent instead of a choice.
const canceled = -1

// sized gives a terminal that does not know its size the usual one.
func sized(_ tea.Model, msg tea.Msg) tea.Msg {
	if size, ok := msg.(tea.WindowSizeMsg); ok && (size.Width <= 0 || size.Height <= 0) {
		return tea.WindowSizeMsg{Width: 80, Height: 24}
	}
	return msg
}

// model is the state of a picker. All of it changes in Update, so that what is typed ahead is taken in its order.
type model struct {
	choice        Choice
	width, height int
	typed         string
	shown         []int    // choices that match, best first
	at, top       int      // the marked one, and the first one on the screen, of shown
	quit          chan int // gets the choice, or canceled, once
	over          bool     // no key counts any more
}

// Init implements tea.Model.
func (m *model) Init() tea.Cmd { return nil }

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if m.over {
		return m, nil
	}
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.PasteMsg:
		m.edit(m.typed + msg.Content)
	case tea.KeyPressMsg:
		switch msg.String() {
		case "enter":
			if len(m.shown) > 0 {
				return m, m.end(m.shown[m.at])
			}
		case "esc", "ctrl+c", "ctrl+d":
			return m, m.end(canceled)
		case "up", "ctrl+p", "ctrl+k":
			m.at--
		case "down", "ctrl+n", "ctrl+j", "tab":
			m.at++
		case "pgup":
			m.at -= m.room()
		case "pgdown":
			m.at += m.room()
		case "home":
			m.at = 0
		case "end":
			m.at = len(m.shown) - 1
		case "backspace", "ctrl+h":
			runes := []rune(m.typed)
			m.edit(string(runes[:max(0, len(runes)-1)]))
		case "ctrl+u", "ctrl+w":
			m.edit("")
		default:
			m.edit(m.typed + msg.Text)
		}
	}
	m.at = max(0, min(m.at, len(m.shown)-1))
	m.top = max(min(m.top, m.at), m.at-m.room()+1)
	return m, nil
}

// end tells Pick the choice.
func (m *model) end(choice int) tea.Cmd {
	m.quit <- choice
	m.over = true
	return tea.Quit
}

// edit changes what is typed.
func (m *model) edit(text string) {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text)
	if text != m.typed {
		m.typed, m.at, m.top = text, 0, 0
		m.filter()
	}
}

// filter finds the choices that match every word that is typed: first those that hold the words as they are, then those
// that hold their characters in this order.
func (m *model) filter() {
	literal := make([]int, len(m.choice.Match))
	m.shown = m.shown[:0]
	for i := range m.choice.Match {
		m.shown = append(m.shown, i)
	}
	for _, word := range strings.Fields(m.typed) {
		found := map[int]bool{}
		for _, f := range fuzzy.FindNoSort(word, m.choice.Match) {
			found[f.Index] = true
			if strings.Contains(strings.ToLower(m.choice.Match[f.Index]), strings.ToLower(word)) {
				literal[f.Index]++
			}
		}
		m.shown = slices.DeleteFunc(m.shown, func(i int) bool { return !found[i] })
	}
	slices.SortStableFunc(m.shown, func(a, b int) int { return literal[b] - literal[a] })
}

// room is how many choices fit on the screen, below what is typed and the heading and above the keys.
func (m *model) room() int { return max(1, m.height-3) }

// View implements tea.Model.
func (m *model) View() tea.View {
	var b strings.Builder
	if m.width > 0 {
		lines := m.choice.Lines(m.width - 2)
		fmt.Fprintf(&b, "> %s\n  %s\n", m.typed, lines[0])
		for n := m.top; n < min(len(m.shown), m.top+m.room()); n++ {
			line := lines[1+m.shown[n]]
			if n == m.at {
				b.WriteString("\x1b[7m> " + line + "\x1b[0m\n")
			} else {
				b.WriteString("  " + line + "\n")
			}
		}
		fmt.Fprintf(&b, "  %d of %d; type to filter, arrow keys to move, Enter to choose, Esc to cancel", len(m.shown), len(m.choice.Match))
	}
	v := tea.NewView(b.String())
	v.AltScreen = true
	v.Cursor = tea.NewCursor(2+len([]rune(m.typed)), 0)
	return v
}
