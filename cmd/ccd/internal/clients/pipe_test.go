//go:build rig

package clients

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// given runs a program with text on its stdin.
func (p *place) given(stdin, program string, args ...string) ran {
	p.t.Helper()
	p.stdin = stdin
	defer func() { p.stdin = "" }()
	return p.run(program, args...)
}

// daemon runs `ccd run` and stops it with SIGINT.
func (p *place) daemon() (stop func()) {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), p.ccdPath(), "run", "--quiet")
	cmd.Dir, cmd.Env = p.project, p.env()
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	return func() {
		p.t.Helper()
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			p.t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil && cmd.ProcessState.ExitCode() != 130 {
			p.t.Errorf("ccd run ends with %v", err)
		}
	}
}

// server is `ccd mcp` with pipes.
type server struct {
	t    *testing.T
	cmd  *exec.Cmd
	to   io.WriteCloser
	from *bufio.Scanner
	n    int
}

// close closes its stdin, after which it must exit 0.
func (s *server) close() {
	s.t.Helper()
	s.to.Close()
	if err := s.cmd.Wait(); err != nil {
		s.t.Errorf("the server ends with %v", err)
	}
}

// serve starts `ccd mcp`.
func (p *place) serve() *server {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), p.ccdPath(), "mcp")
	cmd.Dir, cmd.Env = p.project, p.env()
	to, err := cmd.StdinPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	from, err := cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	s := &server{t: p.t, cmd: cmd, to: to, from: bufio.NewScanner(from)}
	s.from.Buffer(nil, 4<<20)
	return s
}

func (s *server) send(message map[string]any) {
	s.t.Helper()
	message["jsonrpc"] = "2.0"
	line, err := json.Marshal(message)
	if err == nil {
		_, err = fmt.Fprintf(s.to, "%s\n", line)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *server) tell(method string) {
	s.t.Helper()
	s.send(map[string]any{"method": method})
}

// ask sends a request and returns its result.
func (s *server) ask(method string, params any) json.RawMessage {
	s.t.Helper()
	s.n++
	s.send(map[string]any{"id": s.n, "method": method, "params": params})
	for s.from.Scan() {
		var got struct {
			ID            int
			Result, Error json.RawMessage
		}
		if err := json.Unmarshal(s.from.Bytes(), &got); err != nil {
			s.t.Fatalf("%s: the server prints what is not JSON: %.200q", method, s.from.Text())
		}
		if got.ID == s.n {
			if got.Error != nil {
				s.t.Fatalf("%s: %s", method, got.Error)
			}
			return got.Result
		}
	}
	s.t.Fatal(strings.TrimSpace(fmt.Sprintf("%s: the server ended without an answer %v", method, s.from.Err())))
	return nil
}
