//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"ccd/cmd/ccd/internal/status"
	"ccd/cmd/ccd/internal/table"
	"ccd/internal/testkit"
	"ccd/internal/words"
)

// TestStatusOfABrokenConfiguration: with a broken configuration, status still shows the daemon, as degraded.
func TestStatusOfABrokenConfiguration(t *testing.T) {
	home := t.TempDir()
	file, elsewhere := filepath.Join(home, ".config", "ccd", "config.toml"), filepath.Join(home, "data", "a.db")
	status := func(args ...string) (string, int) {
		code, out, said := ccdIn(home, "", append([]string{"status"}, args...)...)
		return out + said, code
	}
	configure(t, home, "[archive]\npath = \""+elsewhere+"\"\n")
	c := spawn(t, home, "run")
	testkit.Eventually(t, "the daemon watches", func() bool { return c.running(t) && !c.info(t).LastPass.IsZero() })
	sound, code := status()
	if wants(t, sound, "running, pid", file); code != 0 || strings.Contains(sound, "degraded") {
		t.Errorf("sound: %d\n%s", code, sound)
	}
	if _, said, code := outputs(t, home, "service", "stop"); code != words.ExitFailed || !c.running(t) {
		t.Errorf("stop: exit %d\n%s", code, said)
	} else {
		wants(t, said, fmt.Sprintf("(pid %d) is not the service\nhint: stop it: kill %[1]d\n", c.Process.Pid))
	}
	configure(t, home, "[trigger]\npressure = 0.5\n[archive]\npath = \""+elsewhere+"\"\n")
	changed, code := status()
	if wants(t, changed, file+" changed since the daemon started", "restart it"); code != words.ExitFailed {
		t.Errorf("changed: %d\n%s", code, changed)
	}
	configure(t, home, "[trigger]\npresure = 0.5\n")
	broken, code := status()
	if wants(t, broken, "running, pid", file, "read config ", "presure", elsewhere); code != words.ExitFailed {
		t.Errorf("broken: %d\n%s", code, broken)
	}
	if said, code := status("-q"); code != words.ExitFailed || said != "" {
		t.Errorf("broken, quiet: %d, %q", code, said)
	}
	other := filepath.Join(home, "other.toml")
	put(t, other, "")
	said, _ := status("--config", other)
	wants(t, said, "different configuration: "+file)
	c.signal(t, syscall.SIGTERM)
	c.ends(t, 0, 5*time.Second)
	said, code = status()
	if wants(t, said, "presure"); code != words.ExitFailed || strings.Contains(said, "running") { // without a daemon, only the error is shown
		t.Errorf("broken, no daemon: %d\n%s", code, said)
	}
}

func statusOf(t *testing.T, home string) (o status.Report, code int) {
	t.Helper()
	out, talk, code := outputs(t, home, "status", "--json")
	if err := json.Unmarshal(out, &o); err != nil {
		t.Fatalf("exit %d: %v in %s%s", code, err, out, talk)
	}
	return o, code
}

// Whatever replaces run.json, status shows the rest and says that something is wrong.
func TestStatusOfABadRunFile(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	file := filepath.Join(stateOf(t, home), "run.json")
	put(t, transcriptPath(home, 1), aLine)
	once(t, home)
	if o, code := statusOf(t, home); code != words.ExitDone || o.Sessions != 1 || len(o.Degraded) > 0 {
		t.Fatalf("sound: exit %d: %+v", code, o)
	}
	bad := []string{"", `{"pid": 12, "errors": [{"pa`, "\x00\xff\x1b[2Jno", `{"pid": "12", "errors": {}}`, `[]`, `null`, `{"pid": -1}`, `{"lag_bytes": 1e999}`}
	check := func(running bool, pid int, texts ...string) {
		t.Helper()
		for _, text := range texts {
			put(t, file, text)
			o, code := statusOf(t, home)
			if told := strings.Join(o.Degraded, "\n"); code != words.ExitFailed || o.Sessions != 1 || o.Running != running || o.Pid != pid || o.Stale != running || !strings.Contains(told, "run.json") && !strings.Contains(told, "run state") {
				t.Errorf("%q: exit %d: %+v", text, code, o)
			}
		}
	}
	check(false, 0, bad...)
	must(t, os.Remove(file))
	c := spawn(t, home, "run")
	testkit.Eventually(t, "the daemon watches", func() bool { return c.running(t) && !c.info(t).LastPass.IsZero() })
	c.signal(t, syscall.SIGSTOP)                                  // otherwise it would overwrite the file
	check(true, c.Process.Pid, append(bad, `{"pid": 999999}`)...) // also that of an ended daemon
	c.signal(t, syscall.SIGCONT)
	c.signal(t, syscall.SIGTERM)
	c.ends(t, words.ExitDone, 20*time.Second)
}

// hasCompacted is the record of Claude Code's own compaction.
const hasCompacted = `{"type":"system","subtype":"compact_boundary","content":"Conversation compacted","uuid":"b1","sessionId":"s","timestamp":"2026-03-01T09:30:00.000Z","compactMetadata":{"trigger":"auto","preTokens":150000}}` + "\n"

// lineEvent is the input of Claude Code 2.1 to a status line, with the members of context_window.
func lineEvent(transcript, context string) string {
	return fmt.Sprintf(`{"hook_event_name":"Status","session_id":"00000000-0000-4000-8000-000000000001","transcript_path":%q,"cwd":"/src/mill",`+
		`"model":{"id":"claude-opus-4-8","display_name":"Opus"},"workspace":{"current_dir":"/src/mill","project_dir":"/src/mill"},"version":"2.1.90",`+
		`"output_style":{"name":"default"},"cost":{"total_cost_usd":0.01,"total_lines_added":1},"context_window":{%s},"exceeds_200k_tokens":false}`, transcript, context)
}

const usedUp = `"total_input_tokens":15234,"total_output_tokens":4521,"context_window_size":200000,"used_percentage":62,"remaining_percentage":38,` +
	`"current_usage":{"input_tokens":500,"output_tokens":1200,"cache_creation_input_tokens":3500,"cache_read_input_tokens":120000}`

// statusline runs the command, which must print one line in time and exit 0.
func statusline(t *testing.T, home, input string, args ...string) string {
	t.Helper()
	begun := time.Now()
	out, code, talk := piped(home, []byte(input), append([]string{"statusline"}, args...)...)
	if took := time.Since(begun); took > 3*time.Second {
		t.Errorf("%q took %v", input, took)
	}
	if code != words.ExitDone || talk != "" || strings.Count(string(out), "\n") != 1 || !strings.HasSuffix(string(out), "\n") {
		t.Errorf("%q: exit code %d, %q on stdout, %q on stderr", input, code, out, talk)
	}
	return strings.TrimSuffix(string(out), "\n")
}

func bare(line string) string {
	for _, t := range []table.Tone{table.Warn, table.Bad, "\x1b[0m"} {
		line = strings.ReplaceAll(line, string(t), "")
	}
	return line
}

func TestStatusline(t *testing.T) {
	t.Parallel()
	home, path := t.TempDir(), ""
	path = transcriptPath(home, 1)
	if got := bare(statusline(t, home, lineEvent(path, usedUp))); got != "context 124K, 62% · ccd is not running" {
		t.Errorf("without an archive: %q", got)
	}
	put(t, path, aLine+turn(1, 150_000)+hasCompacted+turn(31, 40_000))
	configure(t, home, "[watch]\nsettle = \"20ms\"\n")
	c := spawn(t, home, "run")
	testkit.Eventually(t, "it is archived", func() bool {
		out, _, _ := outputs(t, home, "ls", "--json")
		return strings.Contains(string(out), `"pressure": 0.2,`)
	})
	line := statusline(t, home, lineEvent(path, usedUp))
	if !strings.HasPrefix(bare(line), "context 124K, 62% · compacted ") || !strings.HasSuffix(line, " · 3 originals in ccd") || !strings.HasPrefix(line, string(table.Warn)) {
		t.Errorf("while ccd runs: %q", line)
	}
	for _, unknown := range []string{``, `"current_usage":null,"used_percentage":null`, `"current_usage":7`, `"current_usage":{"input_tokens":-5}`, `"current_usage":{"input_tokens":1e300},"context_window_size":1e300`} {
		if got := statusline(t, home, lineEvent(path, unknown)); !strings.HasPrefix(got, "context 40K, 20% · compacted ") {
			t.Errorf("with %s: %q", unknown, got)
		}
	}
	for _, input := range []string{"", "no JSON", "null", "[1]", `"x"`, "{", `{"transcript_path":5}`, `{"transcript_path":"relative.jsonl"}`, `{"transcript_path":"/etc/passwd"}`, lineEvent("/x\x1b[2J\u202e", ""), strings.Repeat("[", 3<<20)} {
		if got := statusline(t, home, input); got != "" {
			t.Errorf("of %.40q: %q", input, got)
		}
	}
	statusline(t, home, "", "--nonsense", "x")

	release := lockArchive(t, c.stateDir())
	if got := statusline(t, home, lineEvent(path, usedUp)); bare(got) != "context 124K, 62%" {
		t.Errorf("while the archive is locked: %q", got)
	}
	release()
	c.signal(t, syscall.SIGTERM)
	c.ends(t, words.ExitDone, 5*time.Second)
	testkit.Eventually(t, "the line is whole", func() bool { // on a busy machine it has only what was read in time
		return strings.HasSuffix(statusline(t, home, lineEvent(path, "")), " · 3 originals in ccd · "+table.Bad.Paint("ccd is not running", true))
	})
	configure(t, home, "[watch\n")
	if got := statusline(t, home, lineEvent(path, usedUp)); bare(got) != "context 124K, 62% · ccd is not running" {
		t.Errorf("with a broken configuration: %q", got)
	}
}

// It does not wait for a client that keeps its pipe open or writes nothing. It respects NO_COLOR.
func TestStatuslineDoesNotWait(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for _, written := range []string{"", lineEvent(transcriptPath(home, 1), usedUp)} {
		r, w, err := os.Pipe()
		must(t, err)
		defer w.Close()
		if _, err := w.WriteString(written); err != nil {
			t.Fatal(err)
		}
		var out, talk strings.Builder
		begun := time.Now()
		code := run(t.Context(), []string{"statusline"}, std(r, &out, &talk), []string{"HOME=" + home, "NO_COLOR=1"})
		want := "ccd is not running\n"
		if written != "" {
			want = "context 124K, 62% · " + want
		}
		if took := time.Since(begun); code != words.ExitDone || out.String() != want || talk.Len() > 0 || took > 2*time.Second {
			t.Errorf("exit code %d after %v: %q, %q", code, took, out.String(), talk.String())
		}
	}
}

// turn returns a reply that reports that many tokens, and the title of the session.
func turn(n, tokens int) string {
	reply, _ := json.Marshal(map[string]any{
		"type": "assistant", "uuid": fmt.Sprint("r", n), "sessionId": "s", "cwd": "/home/you/ledger",
		"timestamp": time.Date(2026, 3, 1, 9, n, 0, 0, time.UTC),
		"message": map[string]any{
			"role": "assistant", "id": fmt.Sprint("m", n), "model": "claude-opus-4-1",
			"content": []any{map[string]any{"type": "text", "text": "The secret word is xylophone."}},
			"usage":   map[string]any{"input_tokens": tokens - 1, "output_tokens": 1},
		},
	})
	return string(reply) + "\n"
}
