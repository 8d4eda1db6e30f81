package main

import (
	"errors"
	"testing"

	"ccd/internal/remote/pulled"
	"ccd/internal/words"
)

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
		if _, err := openBucket(pulled.Settings{URL: c.url, Endpoint: c.endpoint}, patience{}); !errors.As(err, new(words.UsageError)) {
			t.Errorf("%s at %q: %v", c.url, c.endpoint, err)
		}
	}
	for url, prefix := range map[string]string{"s3://bucket": "", "s3://bucket/": "", "s3://bucket/a/b/": "a/b/"} {
		b, err := openBucket(pulled.Settings{URL: url, Endpoint: "http://localhost:9000/"}, patience{})
		if err != nil || b.name != "bucket" || b.prefix != prefix {
			t.Errorf("%s: %+v, %v", url, b, err)
		}
	}
}
