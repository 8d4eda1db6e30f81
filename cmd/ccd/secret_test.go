package main

import (
	"io"
	"strings"
	"testing"
)

func TestSecretWatch(t *testing.T) {
	key := "AKIA" + strings.Repeat("A7", 8)
	tests := []struct{ name, text, want string }{
		{"nothing", strings.Repeat("an ordinary line of text\n", 100), ""},
		{"key", "id = " + key + "\n", "an AWS access key"},
		{"private key", "-----BEGIN " + "RSA PRIVATE KEY-----\n", "a private key"},
		{"in the middle of much", strings.Repeat("x ", 5000) + " ghp_" + strings.Repeat("a1", 18) + strings.Repeat(" y", 5000), "a GitHub token"},
		{"a word that begins alike", "sk-learn and task-" + "force", ""},
		{"a commit hash", "8f31c2e9d0a1b2c3d4e5f60718293a4b5c6d7e8f", ""},
	}
	for _, tt := range tests {
		for _, cut := range []int{1, 7, 64, 1 << 20} {
			s := &secretWatch{w: io.Discard}
			for text := tt.text; text != ""; text = text[min(cut, len(text)):] {
				if _, err := s.Write([]byte(text[:min(cut, len(text))])); err != nil {
					t.Fatal(err)
				}
			}
			if s.seen != tt.want {
				t.Errorf("%s in writes of %d: saw %q, want %q", tt.name, cut, s.seen, tt.want)
			}
		}
	}
}
