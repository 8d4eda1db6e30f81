package gen

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"ccd/internal/testkit"
)

func write(t testing.TB, agent string, seed uint64, size int64) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, agent, seed, size); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestWriteIsDeterministic(t *testing.T) {
	for _, agent := range []string{Claude, Codex} {
		one, two, other := write(t, agent, 5, 1<<20), write(t, agent, 5, 1<<20), write(t, agent, 6, 1<<20)
		if !bytes.Equal(one, two) {
			t.Errorf("%s: the same seed gave different bytes", agent)
		}
		if bytes.Equal(one, other) {
			t.Errorf("%s: different seeds gave the same bytes", agent)
		}
	}
}

// TestWriteStaysTheSame pins the bytes, because figures measured on them are compared between versions and machines. A
// deliberate change of the generator changes the sums too, and needs new measurements.
func TestWriteStaysTheSame(t *testing.T) {
	want := map[string]string{Claude: "acd7d1f3f5633b8f", Codex: "8423b302f76322e1"}
	for agent, sum := range want {
		got := sha256.Sum256(write(t, agent, 1, 1<<20))
		if hex.EncodeToString(got[:8]) != sum {
			t.Errorf("%s: sum %x, want %s", agent, got[:8], sum)
		}
	}
}

func TestEveryLineParses(t *testing.T) {
	for _, agent := range []string{Claude, Codex} {
		for seed := range uint64(testkit.Cases(t, 1, 6)) {
			data := write(t, agent, seed, 600_000)
			if len(data) < 600_000 || data[len(data)-1] != '\n' {
				t.Fatalf("%s seed %d: %d bytes, last %q", agent, seed, len(data), data[len(data)-1])
			}
			for i, line := range bytes.Split(data[:len(data)-1], []byte("\n")) {
				if !json.Valid(line) {
					t.Fatalf("%s seed %d line %d is no JSON: %.200s", agent, seed, i+1, line)
				}
			}
		}
	}
}

// TestShape checks the measured shares of real homes within wide bounds.
func TestShape(t *testing.T) {
	data := write(t, Claude, 3, 8<<20)
	count := func(s string) int { return bytes.Count(data, []byte(s)) }
	for _, want := range []string{
		`"type":"thinking"`, `"signature":"`, `"type":"tool_use"`, `"type":"tool_result"`, `"toolUseResult"`, `"originalFile":"`,
		`"cache_read_input_tokens"`, `"subtype":"compact_boundary"`, `"isCompactSummary":true`, `<persisted-output>`,
		`"media_type":"image/png"`, `"name":"Task"`, `"type":"file-history-snapshot"`, `"is_error":true`,
	} {
		if count(want) == 0 {
			t.Errorf("no %s", want)
		}
	}
	if calls, results := count(`"type":"tool_use"`), count(`"type":"tool_result"`); calls > results+1 {
		t.Errorf("%d calls, %d results", calls, results)
	}
	data = write(t, Codex, 3, 8<<20)
	for _, want := range []string{
		`"session_meta"`, `"turn_context"`, `"encrypted_content"`, `"apply_patch"`, `"token_count"`, `"exec_command_end"`, `"compacted"`,
	} {
		if count(want) == 0 {
			t.Errorf("no %s", want)
		}
	}
}

// TestCompressesLikeReal checks that zstd level 1 compresses the text as much as real transcripts. Text that compresses
// better would make every figure measured on it look too good.
func TestCompressesLikeReal(t *testing.T) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	for agent, want := range map[string][2]float64{Claude: {3.5, 6}, Codex: {2.2, 5}} {
		for seed := range uint64(testkit.Cases(t, 1, 3)) {
			data := write(t, agent, seed, 2<<20)
			ratio := float64(len(data)) / float64(len(enc.EncodeAll(data, nil)))
			t.Logf("%s seed %d: %.2f", agent, seed, ratio)
			if ratio < want[0] || ratio > want[1] {
				t.Errorf("%s seed %d: ratio %.2f, want %v", agent, seed, ratio, want)
			}
		}
	}
}

func TestTree(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	const size = 6 << 20
	if err := Tree(one, 4, size); err != nil {
		t.Fatal(err)
	}
	if err := Tree(two, 4, size); err != nil {
		t.Fatal(err)
	}
	a, b := listing(t, one), listing(t, two)
	if a.text != b.text {
		t.Errorf("the same seed gave different trees")
	}
	if a.bytes < size || a.bytes > size+size/8 {
		t.Errorf("%d bytes, want %d to an eighth more", a.bytes, size)
	}
	for _, part := range []string{".claude/projects/", "/subagents/agent-", ".meta.json", "/tool-results/", ".codex/sessions/2026/"} {
		if !strings.Contains(a.text, part) {
			t.Errorf("no %s in the tree", part)
		}
	}
	if err := Tree(one, 4, size); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second tree over the first: %v", err)
	}
}

type list struct {
	text  string
	bytes int64
}

func listing(t *testing.T, dir string) (l list) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		rel, _ := filepath.Rel(dir, path)
		l.text += fmt.Sprintf("%s %x %d\n", filepath.ToSlash(rel), sha256.Sum256(data), info.ModTime().UnixMilli())
		l.bytes += int64(len(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

type full struct{ left int }

func (f *full) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, io.ErrShortWrite
	}
	return len(b), nil
}

func TestWriteFails(t *testing.T) {
	if err := Write(&full{left: 1 << 20}, Claude, 1, 1<<30); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("a full disk: %v", err)
	}
	if err := Write(io.Discard, "nobody", 1, 1); err == nil {
		t.Errorf("an unknown agent was taken")
	}
}

var home = flag.String("home", "", "write a home of 50 MB to this `directory`")

// TestHome writes a home for figures that are measured by hand.
func TestHome(t *testing.T) {
	if *home == "" {
		t.Skip("no -home")
	}
	if err := Tree(*home, 1, 50_000_000); err != nil {
		t.Fatal(err)
	}
}
