package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// tale builds an invented session of Claude Code step by step.
type tale struct{ story }

func newTale() *tale {
	return &tale{story{clock: time.Date(2026, 1, 15, 9, 0, 0, 0, time.UTC), context: 14000}}
}

func (s *tale) wait(d time.Duration) *tale { s.clock = s.clock.Add(d); return s }

func (s *tale) asks(text string) *tale { s.user(text); return s }

func (s *tale) says(text string) *tale { s.say(text); return s }

func (s *tale) thinks(text string) *tale {
	s.assistant(map[string]any{"type": "thinking", "thinking": text, "signature": "x"})
	return s
}

// uses adds a tool call and its result.
func (s *tale) uses(tool string, input map[string]any, result any, failed bool) *tale {
	id := fmt.Sprintf("toolu_%d", s.n)
	s.call(id, tool, input)
	s.add("user", map[string]any{"role": "user", "content": []any{
		map[string]any{"type": "tool_result", "tool_use_id": id, "content": result, "is_error": failed},
	}})
	return s
}

func (s *tale) runs(command, out string) *tale {
	return s.uses("Bash", map[string]any{"command": command}, out, false)
}

func (s *tale) fails(command, out string) *tale {
	return s.uses("Bash", map[string]any{"command": command}, "Exit code 1\n"+out, true)
}

// reads adds a file read, with line numbers as the tool adds them.
func (s *tale) reads(path string, lines int) *tale {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "%6d\t%s = %d\t# one of the numbers that the ledger of this invented session holds\n", i+1, strings.TrimSuffix(filepath.Base(path), ".py"), i)
	}
	return s.uses("Read", map[string]any{"file_path": path}, b.String(), false)
}

func (s *tale) edits(path, was, is string) *tale {
	return s.uses("Edit", map[string]any{"file_path": path, "old_string": was, "new_string": is}, "The file "+path+" has been updated.", false)
}

// sees adds a person's message with an image.
func (s *tale) sees(text string) *tale {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 640, 360))); err != nil {
		panic(err)
	}
	s.add("user", map[string]any{"role": "user", "content": []any{
		map[string]any{"type": "text", "text": text},
		map[string]any{"type": "image", "source": map[string]any{"type": "base64", "media_type": "image/png", "data": base64.StdEncoding.EncodeToString(b.Bytes())}},
	}})
	return s
}

// compacts adds the agent's own compaction.
func (s *tale) compacts(summary string) *tale {
	s.change("system", map[string]any{"subtype": "compact_boundary", "content": "Conversation compacted", "isMeta": false, "compactMetadata": map[string]any{"trigger": "auto", "preTokens": s.context}})
	s.context = 14000
	s.change("user", map[string]any{"isCompactSummary": true, "isVisibleInTranscriptOnly": true, "message": map[string]any{"role": "user", "content": summary}})
	return s
}

// change adds a record with the given fields.
func (s *tale) change(kind string, fields map[string]any) {
	s.add(kind, nil)
	var record map[string]any
	if err := json.Unmarshal(s.lines[len(s.lines)-1], &record); err != nil {
		panic(err)
	}
	delete(record, "message")
	for k, v := range fields {
		record[k] = v
	}
	line, err := json.Marshal(record)
	if err != nil {
		panic(err)
	}
	s.lines[len(s.lines)-1] = append(line, '\n')
}

// works adds n commands with meaningless outputs of about 2,000 chars.
func (s *tale) works(n int) *tale {
	for range n {
		s.runs(fmt.Sprintf("make part%d", s.n), filler(s.n, 2000))
	}
	return s
}

// filler returns text of that many chars, different for each seed.
func filler(seed, chars int) string {
	var b strings.Builder
	for i := 0; b.Len() < chars; i++ {
		fmt.Fprintf(&b, "part %d of unit %d was put in its place\n", i, seed)
	}
	return b.String()
}

// printed returns a text that the binary prints.
type printed func(t *testing.T) string

// companion returns what `ccd compact FILE` prints.
func (s *tale) companion(config string, flags ...string) printed {
	return func(t *testing.T) string {
		t.Helper()
		dir := t.TempDir()
		file := filepath.Join(dir, "session.jsonl")
		if err := os.WriteFile(file, bytes.Join(s.lines, nil), 0o600); err != nil {
			t.Fatal(err)
		}
		return string(ran(t, nil, append([]string{"compact", "--config", written(t, config), "--no-archive", "-q", file}, flags...)...))
	}
}

// followed returns the companion that `ccd run --once` writes, or "no companion".
func (s *tale) followed(config string) printed {
	return func(t *testing.T) string {
		t.Helper()
		home := t.TempDir()
		dir := filepath.Join(home, ".claude", "projects", "-home-you-ledger")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, storySession+".jsonl"), bytes.Join(s.lines, nil), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, code, talk := piped(home, nil, "run", "--once", "-q", "--config", written(t, config)); code != 0 {
			t.Fatalf("exit %d: %s", code, talk)
		}
		text, err := os.ReadFile(filepath.Join(dir, storySession+".ccd.md"))
		if os.IsNotExist(err) {
			return "no companion"
		}
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
}

// written writes a configuration to a file.
func written(t *testing.T, config string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(name, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}
