//go:build unix

package main

import (
	"context"
	"crypto/rand"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ccd/internal/testkit"
)

// s3Server is an S3 server with a bucket that a test may use.
type s3Server struct {
	Endpoint       string // http(s)://HOST:PORT
	Bucket         string
	Prefix         string // the test's own
	Access, Secret string // the key and its secret
	Dir            string // of the buckets; "" if the server runs elsewhere
}

// URL returns the place in the bucket, s3://BUCKET/PREFIX.
func (s s3Server) URL() string { return "s3://" + s.Bucket + "/" + s.Prefix }

// startS3 starts the versitygw that $CCD_VERSITYGW names, on loopback, until the test ends. If $CCD_S3_ENDPOINT is set, it
// returns that server instead, with the bucket $CCD_S3_BUCKET and the credentials of the environment. It skips the test
// if neither is set.
func startS3(t testing.TB) s3Server {
	t.Helper()
	if endpoint := os.Getenv("CCD_S3_ENDPOINT"); endpoint != "" {
		return s3Server{
			Endpoint: strings.TrimSuffix(endpoint, "/"), Bucket: os.Getenv("CCD_S3_BUCKET"), Prefix: "ccd-test-" + rand.Text(),
			Access: os.Getenv("AWS_ACCESS_KEY_ID"), Secret: os.Getenv("AWS_SECRET_ACCESS_KEY"),
		}
	}
	program := os.Getenv("CCD_VERSITYGW")
	if program == "" {
		t.Skip("CCD_VERSITYGW is not set; cmd/ccd-remote/run installs the server and sets it")
	}
	dir := t.TempDir()
	for _, name := range []string{"data/backup", "meta", "versions"} {
		must(t, os.MkdirAll(filepath.Join(dir, name), 0o755))
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err == nil {
		err = l.Close()
	}
	must(t, err)
	s := s3Server{"http://" + l.Addr().String(), "backup", "team", "key", "secret", filepath.Join(dir, "data")}
	ctx, cancel := context.WithCancel(context.Background())
	c := exec.CommandContext(ctx, program, "--port", l.Addr().String(), "--access", s.Access, "--secret", s.Secret, "posix",
		"--sidecar", filepath.Join(dir, "meta"), "--versioning-dir", filepath.Join(dir, "versions"), s.Dir)
	c.Dir, c.Env = dir, []string{"HOME=" + dir}
	must(t, c.Start())
	t.Cleanup(func() { cancel(); _ = c.Wait() })
	testkit.Eventually(t, "the server answers", func() bool {
		conn, err := net.Dial("tcp", l.Addr().String())
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	return s
}
