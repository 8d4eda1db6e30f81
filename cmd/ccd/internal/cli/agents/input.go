package agents

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ccd/internal/agent/registry"
	"ccd/internal/mark"
	"ccd/internal/transcript"
	"ccd/internal/words"
	"ccd/watcher"
)

// sniffBytes is how many bytes of a file ccd reads to recognize its agent.
const sniffBytes = 64 << 10

// input describes a transcript outside the watched roots: a file, or stdin (-), copied to a temporary file that done
// removes. For anyList see agentOf.
func (a *app) input(ctx context.Context, arg string, anyList bool) (s transcript.Session, done func(), err error) {
	done = func() {}
	s = transcript.Session{Path: a.Absolute(arg)}
	s.Source, s.Packed = transcript.Unpacked(filepath.Base(s.Path))
	place := sha256.Sum256([]byte(s.Path)) // so that files with the same name are different sessions
	s.ID = fmt.Sprintf("file/%s-%x", strings.TrimSuffix(s.Source, ".jsonl"), place[:4])
	if arg == "-" {
		if s, err = a.spool(ctx); err != nil {
			return s, done, err
		}
		done = func() { os.Remove(s.Path) }
	}
	unlined := false
	if s.Agent, s.Class, unlined, err = agentOf(ctx, a.Agents(), s, anyList); err != nil {
		done()
		return s, func() {}, err
	}
	if unlined && !s.Unlined() {
		s.ID += ".json" // see transcript.Key.Unlined
	}
	return s, done, nil
}

// spool copies stdin to a temporary file that only its owner can read. The content's hash names the session.
func (a *app) spool(ctx context.Context) (transcript.Session, error) {
	f, err := os.CreateTemp("", "ccd-*.jsonl")
	if err != nil {
		return transcript.Session{}, fmt.Errorf("store stdin: %w", err)
	}
	sum := sha256.New()
	_, err = io.Copy(io.MultiWriter(f, sum), a.Input(ctx))
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name())
		return transcript.Session{}, fmt.Errorf("read stdin: %w", err)
	}
	id := "stdin-" + string(mark.Hash(sum.Sum(nil)).ID())
	return transcript.Session{Key: transcript.Key{ID: id}, Path: f.Name(), Source: id}, nil
}

// agentOf recognizes the agent of a file by its beginning. It fails if no record is understood. With anyList, an empty
// JSON array is a list, and so is one with a message that has content but no role.
func agentOf(ctx context.Context, agents registry.Table, s transcript.Session, anyList bool) (agent string, class transcript.Class, unlined bool, err error) {
	var d *transcript.Decoder
	var seen transcript.Understood
	records := 0
	for seg, err := range watcher.Tail(ctx, s, transcript.Cursor{}, watcher.TailOptions{Rest: true, Torn: true}) {
		if err != nil {
			return "", 0, false, fmt.Errorf("read transcript: %w", err)
		}
		if d == nil {
			agent, class, _ = agents.Sniff(seg.Data[:min(len(seg.Data), sniffBytes)])
			d = agents.NewDecoder(cmp.Or(agent, transcript.Messages), class)
		}
		for r := range d.Records(seg) {
			records++
			if seen.Add(r); agent != "" && seen.Content > 0 {
				return agent, class, d.Unlined(), nil
			}
			if anyList && agent == transcript.Messages && (r.Long || slices.Contains(transcript.Keys(r.Raw), "content")) {
				return agent, class, d.Unlined(), nil
			}
		}
	}
	if agent != "" && agent != transcript.Messages && seen.Unknown == 0 {
		return "", 0, false, fmt.Errorf("read %s: a transcript of %s without messages", mark.Inline(cmp.Or(s.Source, s.Path), 0), agents.Title(agent))
	}
	if agent != "" && !seen.Empty() || anyList && agent == transcript.Messages && records == 0 {
		return agent, class, d != nil && d.Unlined(), nil
	}
	what := "it has no records"
	if records > 0 {
		what = "unknown transcript format in " + words.Count(records, "line")
	}
	return "", 0, false, words.Hint(fmt.Errorf("read %s: %s", mark.Inline(cmp.Or(s.Source, s.Path), 0), what),
		"a FILE is a transcript of %s, or a list of messages, each with role and content", strings.Join(agents.Titles(), ", "))
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
