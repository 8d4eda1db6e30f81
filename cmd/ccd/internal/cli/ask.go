package cli

import (
	"bufio"
	"cmp"
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

// Yes asks a question on the terminal, and reports whether the answer is yes. An empty line is the usual answer.
func (a *App) Yes(ctx context.Context, question string, usual bool) (bool, error) {
	given, err := a.Ask(ctx, question+map[bool]string{true: " [Y/n] ", false: " [y/N] "}[usual], map[bool]string{true: "y", false: "n"}[usual])
	return given == "y" || given == "yes", err
}

// Ask asks a question on the terminal, and returns the answer in lower case: usual for an empty line, "" at the end of input.
func (a *App) Ask(ctx context.Context, question, usual string) (string, error) {
	fmt.Fprint(a.Err, question)
	line, err := ReadLine(ctx, bufio.NewReader(a.In))
	if line == "" {
		fmt.Fprintln(a.Err) // end the line of the question
		return "", err
	}
	return cmp.Or(strings.ToLower(strings.TrimSpace(line)), usual), err
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

// Input is stdin until its end or that of ctx: a read of a terminal cannot be interrupted, only left behind.
func (a *App) Input(ctx context.Context) io.Reader {
	if IsTTY(a.In) {
		a.Say("reading stdin until Ctrl-D")
	}
	r, w := io.Pipe()
	go func() {
		_, err := io.Copy(w, a.In)
		w.CloseWithError(err)
	}()
	context.AfterFunc(ctx, func() { w.CloseWithError(context.Cause(ctx)) })
	return r
}
