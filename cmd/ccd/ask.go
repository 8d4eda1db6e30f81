package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// answers reports whether there is a terminal to ask on.
func (a *app) answers() bool {
	in, ok := a.in.(*os.File)
	return ok && a.terminal(in) && a.terminal(a.err)
}

// answer reads a line without the space around it, or "" if there is none. If ctx ends, it fails with the cause; the
// read continues until the process ends.
func answer(ctx context.Context, in io.Reader) (string, error) {
	text, err := readLine(ctx, bufio.NewReader(in))
	return strings.TrimSpace(text), err
}

// readLine reads a line with its newline, or "" at the end of input. It returns early if ctx ends.
func readLine(ctx context.Context, in *bufio.Reader) (string, error) {
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
