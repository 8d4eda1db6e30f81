package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Answers reports whether there is a terminal to ask on.
func (a *App) Answers() bool {
	in, ok := a.In.(*os.File)
	return ok && a.Terminal(in) && a.Terminal(a.Err)
}

// Yes asks a question on the terminal, and reports whether the answer is yes.
func (a *App) Yes(ctx context.Context, question string) (bool, error) {
	fmt.Fprintf(a.Err, "%s [y/N] ", question)
	given, err := Answer(ctx, a.In)
	if given == "" {
		fmt.Fprintln(a.Err) // end the line of the question
	}
	given = strings.ToLower(given)
	return given == "y" || given == "yes", err
}

// Answer reads a line without the space around it, or "" if there is none. If ctx ends, it fails with the cause; the
// read continues until the process ends.
func Answer(ctx context.Context, in io.Reader) (string, error) {
	text, err := ReadLine(ctx, bufio.NewReader(in))
	return strings.TrimSpace(text), err
}

// ReadLine reads a line with its newline, or "" at the end of input. It returns early if ctx ends.
func ReadLine(ctx context.Context, in *bufio.Reader) (string, error) {
	type answer struct {
		line string
		err  error
	}
	typed := make(chan answer, 1)
	go func() {
		line, err := in.ReadString('\n')
		typed <- answer{line, err}
	}()
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case got := <-typed:
		if got.err != nil && !errors.Is(got.err, io.EOF) {
			return "", fmt.Errorf("read answer: %w", got.err)
		}
		return got.line, nil
	}
}
