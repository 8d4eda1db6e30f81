package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"ccd/internal/mark"
	"ccd/internal/transcript"
	"ccd/watcher"
)

// sniffed is how much of a file is looked at to tell whose transcript it is.
const sniffed = 64 << 10

// input describes a transcript that lies below no watched root: a file, or stdin (-) through a temporary file, which
// done removes.
func (a *app) input(ctx context.Context, arg string) (s transcript.Session, done func(), err error) {
	done = func() {}
	s = transcript.Session{Path: absolute(arg), Packed: strings.HasSuffix(arg, ".zst")}
	s.Source = strings.TrimSuffix(filepath.Base(s.Path), ".zst")
	place := sha256.Sum256([]byte(s.Path)) // two files of one name are two sessions
	s.ID = fmt.Sprintf("file/%s-%x", strings.TrimSuffix(s.Source, ".jsonl"), place[:4])
	if arg == "-" {
		if s, err = a.spool(); err != nil {
			return s, done, err
		}
		done = func() { os.Remove(s.Path) }
	}
	if s.Agent, s.Class, err = agentOf(ctx, s); err != nil {
		done()
		return s, func() {}, err
	}
	return s, done, nil
}

// spool keeps stdin in a temporary file that only its owner can read. The session is named by its content.
func (a *app) spool() (transcript.Session, error) {
	f, err := os.CreateTemp("", "ccd-*.jsonl")
	if err != nil {
		return transcript.Session{}, fmt.Errorf("keep stdin: %w", err)
	}
	sum := sha256.New()
	_, err = io.Copy(io.MultiWriter(f, sum), a.in)
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name())
		return transcript.Session{}, fmt.Errorf("read stdin: %w", err)
	}
	id := "stdin-" + string(mark.Hash(sum.Sum(nil)).ID())
	return transcript.Session{Key: transcript.Key{ID: id}, Path: f.Name(), Source: id}, nil
}

// agentOf looks at the beginning of a file.
func agentOf(ctx context.Context, s transcript.Session) (string, transcript.Class, error) {
	var head []byte
	for seg, err := range watcher.Tail(ctx, s, transcript.Cursor{}, watcher.TailOptions{Rest: true, Torn: true}) {
		if err != nil {
			return "", 0, fmt.Errorf("read transcript: %w", err)
		}
		head = seg.Data[:min(len(seg.Data), sniffed)]
		break
	}
	agent, class, ok := transcript.Sniff(head)
	if !ok {
		return "", 0, fmt.Errorf("compact %s: neither a known agent's transcript nor a list of messages", cmp.Or(s.Source, s.Path))
	}
	return agent, class, nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// absolute makes a path absolute; one that cannot be is left as it is, and whatever opens it will say so.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
