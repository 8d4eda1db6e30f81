package hook

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"ccd/compactor"
	"ccd/compactor/companion"
	"ccd/internal/testkit"
)

func TestPressureIsToldOncePerLevel(t *testing.T) {
	for _, readOnly := range []bool{false, true} {
		p := newPlace(t)
		if readOnly {
			p.write(filepath.Join(p.StateDir, "x"), "", 0)
			testkit.Must(t, os.Chmod(p.StateDir, 0o500))
		}
		e := Event{Name: UserPromptSubmit, Session: uuid1, Transcript: p.claude(uuid1)}
		said := 0
		for _, level := range []compactor.Level{compactor.Aggressive, compactor.Aggressive, compactor.Maximum, compactor.Aggressive, compactor.Maximum} {
			p.companion(e.Transcript, ledger, func(f *companion.Matter) { f.Level = level })
			a, err := p.ask(e)
			if err != nil && !errors.Is(err, ErrNothing) {
				t.Fatal(err)
			}
			if len(a.Stdout) == 0 {
				continue
			}
			said++
			text := contextOf(t, a)
			wants(t, text, level.String(), "81%", "restore ID")
			if n := utf8.RuneCountInString(text); n > maxPrompt {
				t.Errorf("%d chars", n)
			}
			testkit.Append(t, e.Transcript, fmt.Sprintf(`{"type":"attachment","attachment":{"content":%q}}`+"\n", text)) // as the client writes it
		}
		if said != 2 {
			t.Errorf("read-only %v: told %d times, want 2", readOnly, said)
		}
	}
}

// TestPressureIsThatOfNow: the transcript may be newer than the companion.
func TestPressureIsThatOfNow(t *testing.T) {
	usage := func(n int) string {
		return fmt.Sprintf(`{"type":"assistant","uuid":"a%d","timestamp":"2026-03-01T10:00:00Z","message":{"id":"m%d","role":"assistant","model":"some-model","content":[{"type":"text","text":"ok"}],"usage":{"input_tokens":%d,"output_tokens":5}}}`+"\n", n, n, n)
	}
	boundary := `{"type":"system","subtype":"compact_boundary","uuid":"b","timestamp":"2026-03-01T10:00:00Z","compactMetadata":{"trigger":"auto","preTokens":160000}}` + "\n"
	covered := strings.Repeat("{}\n", 400)
	for name, c := range map[string]struct {
		tail   string
		want   string
		change func(*companion.Matter)
	}{
		"below":                     {"", "", func(f *companion.Matter) { f.Pressure = 0.59 }},
		"assumed":                   {"", "", func(f *companion.Matter) { f.Assumed = true }},
		"another transcript":        {"", "", func(f *companion.Matter) { f.Covers.Bytes += 1000 }},
		"nothing since":             {"", "81%", nil},
		"grown":                     {usage(180000), "90%", nil},
		"grown, a line not ended":   {usage(180000) + strings.TrimSuffix(usage(1000), "\n"), "90%", nil},
		"compacted":                 {usage(180000) + boundary, "", nil},
		"compacted, and little now": {boundary + usage(9000), "", nil},
		"compacted, and full again": {boundary + usage(150000), "75%", nil},
		"far behind":                {boundary + strings.Repeat("{}\n", maxTail/3) + usage(150000), "75%", nil},
	} {
		p := newPlace(t)
		p.write(p.claude(uuid1), covered+c.tail, 0)
		p.companion(p.claude(uuid1), ledger, func(f *companion.Matter) {
			if f.Covers.Bytes = int64(len(covered)); c.change != nil {
				c.change(f)
			}
		})
		a, err := p.ask(Event{Name: UserPromptSubmit, Session: uuid1, Transcript: p.claude(uuid1)})
		if told := len(a.Stdout) > 0; told != (c.want != "") || told && !strings.Contains(contextOf(t, a), c.want) {
			t.Errorf("%s: %s, %v, want %q", name, a.Stdout, err, c.want)
		}
	}
}

func TestWhatWasSaidStaysBounded(t *testing.T) {
	p := newPlace(t)
	for i := range testkit.Cases(t, 1500, 3000) {
		s := p.find(p.claude(fmt.Sprintf("%08x-90c4-4a1b-8a53-0c1d2e3f4a5b", i)))
		if !p.noteLevel(s, "aggressive") || p.noteLevel(s, "aggressive") {
			t.Fatalf("session %d: not exactly once", i)
		}
	}
	info, err := os.Stat(filepath.Join(p.StateDir, "hook.said"))
	if err != nil || info.Size() > maxSaid {
		t.Errorf("%d bytes, %v", info.Size(), err)
	}
}
