//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"

	"ccd/internal/remote/pulled"
	"ccd/internal/testkit"
)

// These tests run ccd and ccd-remote against a real server, versitygw, which cmd/ccd-remote/run installs.

var must = testkit.Must

// binaries builds ccd and ccd-remote once.
var binaries = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "ccd-remote-test-")
	if err != nil {
		return "", err
	}
	out, err := exec.Command("go", "build", "-o", dir, "ccd/cmd/ccd", "ccd/cmd/ccd-remote").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return dir, nil
})

// impatient, in the environment, has the test binary run as a ccd-remote that gives up soon.
const impatient = "CCD_TEST_IMPATIENT"

func TestMain(m *testing.M) {
	if os.Getenv(impatient) != "" {
		os.Exit(start(patience{2, time.Second}))
	}
	if endpoint := os.Getenv("CCD_S3_ENDPOINT"); endpoint != "" {
		b, err := openBucket(pulled.Settings{URL: "s3://" + os.Getenv("CCD_S3_BUCKET"), Endpoint: endpoint}, patience{2, time.Second})
		if err == nil {
			_ = b.core.MakeBucket(context.Background(), b.name, minio.MakeBucketOptions{}) // it may exist
		}
	}
	code := m.Run()
	if os.Getenv("CCD_VERSITYGW")+os.Getenv("CCD_S3_ENDPOINT") != "" {
		if dir, err := binaries(); err == nil {
			_ = os.RemoveAll(dir)
		}
	}
	os.Exit(code)
}

// server is a bucket of a real server behind a proxy that can inject faults.
type server struct {
	t testing.TB
	s3Server
	url   string   // of the proxy
	env   []string // credentials
	mu    sync.Mutex
	fault handler
	n     int
}

// handler answers request n (from 1) in place of the server.
type handler = func(n int, w http.ResponseWriter, r *http.Request, forward http.HandlerFunc)

func startServer(t testing.TB) *server {
	t.Helper()
	real := startS3(t)
	s := &server{t: t, s3Server: real, env: []string{"AWS_ACCESS_KEY_ID=" + real.Access, "AWS_SECRET_ACCESS_KEY=" + real.Secret}}
	to, err := url.Parse(real.Endpoint)
	must(t, err)
	proxy := &httputil.ReverseProxy{ErrorLog: log.New(io.Discard, "", 0), Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host // it is signed
	}}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.n++
		n, fault := s.n, s.fault
		s.mu.Unlock()
		if fault != nil {
			fault(n, w, r, proxy.ServeHTTP)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	s.url = front.URL
	return s
}

// inject sets the fault of the requests from now on, which are counted from 1.
func (s *server) inject(f handler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault, s.n = f, 0
}

// home is a machine: a home directory with a host name.
type home struct {
	t    testing.TB
	s    *server
	dir  string
	name string
	env  []string
}

func newHome(t testing.TB, s *server, name string) *home {
	return &home{t: t, s: s, dir: t.TempDir(), name: name, env: s.env}
}

func (h *home) command(args ...string) *exec.Cmd {
	h.t.Helper()
	bin, err := binaries()
	must(h.t, err)
	c := exec.Command(filepath.Join(bin, "ccd"), args...)
	c.Dir = h.dir
	c.Env = append([]string{"HOME=" + h.dir, "PATH=/nonexistent", "CCD_COMPANION_HOST=" + h.name}, h.env...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return c
}

// run runs ccd and returns what it printed and its exit code.
func (h *home) run(args ...string) (out, talk string, code int) {
	h.t.Helper()
	c := h.command(args...)
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		h.t.Fatal(err)
	}
	return stdout.String(), stderr.String(), c.ProcessState.ExitCode()
}

// ok runs ccd, which must succeed.
func (h *home) ok(args ...string) string {
	h.t.Helper()
	out, talk, code := h.run(args...)
	if code != 0 {
		h.t.Fatalf("%s: ccd %s: exit %d: %s%s", h.name, strings.Join(args, " "), code, out, talk)
	}
	return out
}

// transcript returns the path of a session's file.
func (h *home) transcript(id string) string {
	return filepath.Join(h.dir, ".claude/projects/-src-app", id+".jsonl")
}

// talk appends records to a session and archives them.
func (h *home) talk(id string, records int) {
	h.t.Helper()
	h.write(id, records)
	h.ok("run", "--once", "-q")
}

// write appends records to a session.
func (h *home) write(id string, records int) {
	h.t.Helper()
	var lines bytes.Buffer
	for n := range records {
		line, err := json.Marshal(map[string]any{
			"type": "user", "sessionId": id, "cwd": "/src/app", "uuid": fmt.Sprintf("%s-%d-%d", id, time.Now().UnixNano(), n), "timestamp": "2026-01-02T03:04:05Z",
			"message": map[string]string{"role": "user", "content": fmt.Sprintf("the question %d of %s on %s: what does the needle-%s do in /src/app/money.go, not in /src/application?", n, id, h.name, id)},
		})
		must(h.t, err)
		lines.Write(append(line, '\n'))
	}
	testkit.Append(h.t, h.transcript(id), lines.String())
}

func id(n int) string { return fmt.Sprintf("%08d-0000-4000-8000-000000000000", n) }

// join lets the machine encrypt to a reader, and returns the identity file of a new reader if reader is "".
func (h *home) join(recipient string) {
	h.t.Helper()
	h.ok("remote", "add", h.s.URL(), "--endpoint", h.s.url, "--recipient", recipient, "-q")
}

// reader makes a machine that has a reader's identity, and returns its recipient.
func (h *home) reader() (recipient string) {
	h.t.Helper()
	recipient = strings.TrimSpace(h.ok("remote", "keys", "-q"))
	h.join(recipient)
	return recipient
}

// same checks that a reader has every byte of the machine's transcripts.
func (h *home) same(r *home) {
	h.t.Helper()
	files, err := filepath.Glob(h.transcript("*"))
	if err != nil || len(files) == 0 {
		h.t.Fatalf("%d files: %v", len(files), err)
	}
	for _, file := range files {
		want := testkit.Read(h.t, file)
		got := r.ok("restore", "--session", strings.TrimSuffix(filepath.Base(file), ".jsonl"), "--machine", h.name, "-q")
		if got != string(want) {
			h.t.Errorf("%s at %s: %d bytes, want %d", filepath.Base(file), r.name, len(got), len(want))
		}
	}
}

// TestTwoMachines: what one machine has pushed is found, restored and searched on another one after it is gone.
func TestTwoMachines(t *testing.T) {
	s := startServer(t)
	fresh := newHome(t, s, "fresh")
	desk := newHome(t, s, "desk")
	desk.join(fresh.reader())
	for n := range 5 {
		desk.talk(id(n), 20)
	}
	desk.ok("remote", "push")
	for n := range 5 {
		desk.talk(id(n), 20)
	}
	desk.ok("remote", "push")
	if out := desk.ok("remote", "push"); !strings.HasPrefix(out, "nothing new to push as ") {
		t.Error("a push without news says", out)
	}
	if out := desk.ok("remote", "push", "-q"); out != "" {
		t.Error("cron would mail", out)
	}
	var hits []struct{ ID, Session string }
	must(t, json.Unmarshal([]byte(desk.ok("search", "--json", "--limit", "1", "needle-"+id(3))), &hits))
	want := desk.ok("restore", "-q", hits[0].ID)
	files, err := filepath.Glob(desk.transcript("*"))
	must(t, err)
	content := map[string]string{}
	for _, f := range files {
		b := testkit.Read(t, f)
		content[strings.TrimSuffix(filepath.Base(f), ".jsonl")] = string(b)
	}
	must(t, os.RemoveAll(desk.dir)) // the machine is gone

	fresh.ok("remote", "pull")
	if len(content) != 5 {
		t.Fatal("the control: there are no transcripts")
	}
	for session, text := range content {
		if got := fresh.ok("restore", "-q", "--machine", "desk", "--session", session); got != text {
			t.Errorf("session %s: %d bytes, want %d", session, len(got), len(text))
		}
	}
	if got := fresh.ok("restore", "-q", hits[0].ID); got != want {
		t.Errorf("restore %s: %q, want %q", hits[0].ID, got, want)
	}
	if got := fresh.ok("search", "--machine", "desk", "needle-"+id(2)); !strings.Contains(got, "desk "+id(2)+"#") {
		t.Errorf("search --machine desk:\n%s", got)
	}
	if out := fresh.ok("remote", "check", "--sample", "-1"); !strings.Contains(out, " 0 problems") {
		t.Error(out)
	}
}

// cut closes the connection instead of answering.
func cut(w http.ResponseWriter) {
	c, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		c.Close()
	}
}

// refuse answers with an S3 error.
func refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>injected</Message></Error>", code)
}
