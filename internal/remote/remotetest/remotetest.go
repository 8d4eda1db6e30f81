// Package remotetest starts the S3 server of tests, or names one that runs elsewhere.
package remotetest

import (
	"context"
	"crypto/rand"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Server is an S3 server with a bucket that a test may use.
type Server struct {
	Endpoint       string // http(s)://HOST:PORT
	URL            string // s3://BUCKET/PREFIX; the prefix is the test's own
	Access, Secret string // the key and its secret
}

// Start starts the versitygw that $CCD_VERSITYGW names, on loopback, until the test ends. If $CCD_S3_ENDPOINT is set, it
// returns that server instead, with the bucket $CCD_S3_BUCKET and the credentials of the environment. It skips the test
// if neither is set.
func Start(t testing.TB) Server {
	t.Helper()
	if endpoint := os.Getenv("CCD_S3_ENDPOINT"); endpoint != "" {
		return Server{
			strings.TrimSuffix(endpoint, "/"), "s3://" + os.Getenv("CCD_S3_BUCKET") + "/ccd-test-" + rand.Text(),
			os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_SECRET_ACCESS_KEY"),
		}
	}
	program := os.Getenv("CCD_VERSITYGW")
	if program == "" {
		t.Skip("CCD_VERSITYGW is not set; cmd/ccd-remote/run installs the server and sets it")
	}
	dir := t.TempDir()
	for _, name := range []string{"data/backup", "meta"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err == nil {
		err = l.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	s := Server{"http://" + l.Addr().String(), "s3://backup/team", "key", "secret"}
	ctx, cancel := context.WithCancel(context.Background())
	c := exec.CommandContext(ctx, program, "--port", l.Addr().String(), "--access", s.Access, "--secret", s.Secret, "posix", "--sidecar", filepath.Join(dir, "meta"), filepath.Join(dir, "data"))
	c.Dir, c.Env = dir, []string{"HOME=" + dir}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); _ = c.Wait() })
	for deadline := time.Now().Add(20 * time.Second); ; {
		conn, err := net.Dial("tcp", l.Addr().String())
		if err == nil {
			conn.Close()
			return s
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
		<-time.After(20 * time.Millisecond)
	}
}
