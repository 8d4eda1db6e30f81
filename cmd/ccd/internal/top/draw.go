package top

import (
	"context"
	"fmt"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"
)

// endSoon limits how long draw waits for the screen to be restored: a terminal that takes no output blocks Bubble Tea
// forever.
const endSoon = 500 * time.Millisecond

// draw draws a model on a terminal until it quits or ctx ends, and returns what it sent on quit, which must have room for one
// value.
func draw(ctx context.Context, in, out *os.File, env []string, m tea.Model, quit chan string) (said string, err error) {
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
		if len(quit) > 0 {
			said = <-quit
		}
	case said = <-quit:
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
	switch {
	case ctx.Err() != nil:
		return said, ctx.Err()
	case err != nil:
		return said, fmt.Errorf("draw on terminal: %w", err)
	}
	return said, nil
}

// sized gives a terminal that does not know its size the usual one.
func sized(_ tea.Model, msg tea.Msg) tea.Msg {
	if size, ok := msg.(tea.WindowSizeMsg); ok && (size.Width <= 0 || size.Height <= 0) {
		return tea.WindowSizeMsg{Width: 80, Height: 24}
	}
	return msg
}
