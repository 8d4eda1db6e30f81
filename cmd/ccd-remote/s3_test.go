package main

import (
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"ccd/internal/remote/pulled"
	"ccd/internal/words"
)

// TestLimit: at no time has more been sent than the limit permits, and what is sent takes as long as it should.
func TestLimit(t *testing.T) {
	const limit, size = 1000, 25_000
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		begun, got := time.Now(), 0
		done := make(chan struct{})
		go func() {
			defer close(done)
			for b := make([]byte, 4096); ; {
				n, err := theirs.Read(b)
				if err != nil {
					return
				}
				got += n
				if most := limit*time.Since(begun).Seconds() + limit/10; float64(got) > most {
					t.Errorf("%d bytes after %s, at most %.0f", got, time.Since(begun), most)
				}
			}
		}()
		n, err := (&slowConn{ours, limit}).Write(make([]byte, size))
		took := time.Since(begun)
		ours.Close()
		<-done
		if err != nil || n != size || got != size || took != size/limit*time.Second {
			t.Errorf("%d of %d bytes, %d received, in %s: %v", n, size, got, took, err)
		}
	})
}

// TestTransport: only with a limit are connections slow, and one that cannot be made is an error.
func TestTransport(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for limit, want := range map[int64]bool{0: false, 5000: true} {
		transport, err := newTransport(false, limit)
		if err != nil {
			t.Fatal(err)
		}
		c, err := transport.DialContext(t.Context(), "tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		slow, ok := c.(*slowConn)
		if ok != want || ok && slow.limit != limit {
			t.Errorf("limit %d: %T", limit, c)
		}
		_, _ = io.WriteString(c, "x")
		c.Close()
		if _, err := transport.DialContext(t.Context(), "tcp", "127.0.0.1:1"); err == nil {
			t.Error("a connection to nothing")
		}
	}
}

// TestAddresses: an address that cannot be right is a usage error, before any request.
func TestAddresses(t *testing.T) {
	for _, c := range []struct{ url, endpoint string }{
		{"s3://b/p", ""},
		{"s3://192.168.1.1/p", ""},
		{"https://bucket/p", ""},
		{"s3://key:secret@bucket/p", ""},
		{"s3://bucket/p?x=y", ""},
		{"bucket", ""},
		{"s3://bucket", "ftp://host"},
		{"s3://bucket", "host:9000"},
		{"s3://bucket", "https://host/path"},
	} {
		if _, err := openBucket(pulled.Settings{URL: c.url, Endpoint: c.endpoint}); !errors.As(err, new(words.UsageError)) {
			t.Errorf("%s at %q: %v", c.url, c.endpoint, err)
		}
	}
	for url, prefix := range map[string]string{"s3://bucket": "", "s3://bucket/": "", "s3://bucket/a/b/": "a/b/"} {
		b, err := openBucket(pulled.Settings{URL: url, Endpoint: "http://localhost:9000/"})
		if err != nil || b.name != "bucket" || b.prefix != prefix {
			t.Errorf("%s: %+v, %v", url, b, err)
		}
	}
}
