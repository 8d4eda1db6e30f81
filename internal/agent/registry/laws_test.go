package registry_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ccd/internal/agent/registry"
	"ccd/internal/mark"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

// records decodes data cut into segments at cuts and returns all records as text. It checks that each span has the
// bytes of its record.
func records(t testing.TB, agent string, class transcript.Class, data []byte, cuts ...int) (out []string) {
	t.Helper()
	all := decode(registry.Table{}.NewDecoder(agent, class), data, cuts...)
	for i := range all {
		testkit.Must(t, sound(&all[i], data, i+1))
		var b strings.Builder
		dump(&b, &all[i])
		out = append(out, b.String())
	}
	return out
}

// sound checks that record n and its items are what the file has there, and that all may be asked of them.
func sound(r *transcript.Record, data []byte, n int) error {
	if r.N != n || r.Span.Off < 0 || r.Span.End() > int64(len(data)) {
		return fmt.Errorf("record %d is #%d at %+v", n, r.N, r.Span)
	}
	line := data[r.Span.Off:r.Span.End()]
	if r.Sum() != mark.Hash(sha256.Sum256(line)) || !r.Long && !bytes.Equal(r.Raw, line) {
		return fmt.Errorf("#%d: the file has %q, not %q, or another hash", n, line, r.Raw)
	}
	for _, i := range r.Items {
		if i.Span.Len == 0 || i.Span.Off < r.Span.Off || i.Span.End() > r.Span.End() || !bytes.Equal(i.Raw, data[i.Span.Off:i.Span.End()]) {
			return fmt.Errorf("#%d: item %v at %+v shows %q", n, i.Kind, i.Span, i.Raw)
		}
		original := transcript.Original(i.Kind, i.Raw)
		for f := transcript.Unframed; f <= transcript.Within; f++ {
			i.Client().Said(f, string(original))
		}
		transcript.Chars(i.Raw)
		switch i.Kind {
		case transcript.Call:
			i.Understand()
		case transcript.Result:
			o := i.Explain(i.Tool, i.Client().Op(i.Tool))
			i.Client().Reading(i.Tool, &transcript.Action{Op: transcript.Read, Files: []transcript.FileChange{{Op: transcript.Read}}}, &o)
		}
	}
	return nil
}

// joined checks that the spans of the records, with one line end between them, are the whole file.
func joined(all []transcript.Record, data []byte) error {
	next := int64(0)
	for _, r := range all {
		if r.Span.Off != next || r.Span.End() < int64(len(data)) && data[r.Span.End()] != '\n' {
			return fmt.Errorf("#%d stands at %+v, the one before ended at %d", r.N, r.Span, next-1)
		}
		next = r.Span.End() + 1
	}
	if next < int64(len(data)) {
		return fmt.Errorf("the records end at %d of %d bytes", next, len(data))
	}
	return nil
}

func FuzzRecordsLossless(f *testing.F) {
	for i, x := range fixtures {
		f.Add(read(f, filepath.Join("testdata", x.file)), uint8(i), uint64(i))
	}
	for _, s := range []string{
		"", "\n", "\r\n", "a", "\ufeff{}\n{}", "[", "[]", "  [1,\n\"a]\\\"\",{\"a\":[1]}]x]", "{\"a\":\x00}\n", "{\"type\":\"user\"}{",
		"{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"\xff\\ud800\"}]}}",
		`{"\u0074ype":"user","message":{"content":"x"}}`, "[1 2", strings.Repeat("[", 300), strings.Repeat(" ", 5000) + "[1]",
	} {
		f.Add([]byte(s), uint8(0), uint64(1))
		f.Add([]byte(s), uint8(4), uint64(2))
	}
	f.Fuzz(func(t *testing.T, data []byte, which uint8, seed uint64) {
		x := fixtures[int(which)%len(fixtures)]
		whole := records(t, x.agent, x.class, data)
		rnd := rand.New(rand.NewPCG(seed, 1))
		var cuts []int
		for at := 0; at < len(data); at += 1 + rnd.IntN(1+len(data)/3) {
			cuts = append(cuts, at)
		}
		if diff := cmp.Diff(whole, records(t, x.agent, x.class, data, cuts...)); diff != "" {
			t.Fatalf("cut at %v the records differ:\n%s", cuts, diff)
		}
		if x.agent != transcript.Messages {
			testkit.Must(t, joined(decode(registry.Table{}.NewDecoder(x.agent, x.class), data), data))
		}
	})
}

// TestUnfinishedLine checks that a line without its end is a record only if no more data follow. Adding the line end
// changes nothing; adding other bytes does.
func TestUnfinishedLine(t *testing.T) {
	d := registry.Table{}.NewDecoder("claude-code", transcript.Main)
	at := int64(0)
	for _, step := range []struct {
		data    string
		rest    bool
		reopens bool // the data continue a record that was returned
		records int
	}{
		{"{}\n{", false, false, 1},
		{"}", false, false, 0},
		{"", true, false, 1},
		{"", true, false, 0},
		{"\n{}\n", true, false, 1},
		{`{"a":"é`[:7], false, false, 0},
		{"\xa9", false, false, 0},
		{`"} `, true, false, 1},
		{"x", true, true, 1},
		{"y\n{}", true, true, 2},
		{"\n[1", false, false, 0},
		{"\n", false, false, 1},
	} {
		seg := transcript.Segment{Start: transcript.Cursor{Offset: at}, Data: []byte(step.data), Rest: step.rest}
		at += int64(len(step.data))
		reopens, n := d.ContinuesLine(seg), 0
		for range d.Records(seg) {
			n++
		}
		if reopens != step.reopens || n != step.records {
			t.Fatalf("%q: reopens %v, %d records; want %+v", step.data, reopens, n, step)
		}
	}
}

// TestLongLine checks that a line over MaxLine is a record with its span and hash, and is never whole in memory.
func TestLongLine(t *testing.T) {
	long := append(append([]byte(`{"type":"user","x":"`), bytes.Repeat([]byte("ab"), transcript.MaxLine/2)...), `"}`...)
	data := append(append([]byte("{}\n"), long...), "\n{\"type\":\"user\",\"message\":{\"content\":\"after\"}}\n"...)
	whole := records(t, "claude-code", transcript.Main, data)
	if len(whole) != 3 || !strings.Contains(whole[1], " Long") || !strings.Contains(whole[2], `human`) {
		t.Fatalf("records: %.200q", whole)
	}
	var cuts []int
	for at := 1 << 20; at < len(data); at += 1 << 20 {
		cuts = append(cuts, at)
	}
	if diff := cmp.Diff(whole, records(t, "claude-code", transcript.Main, data, cuts...)); diff != "" {
		t.Fatal(diff)
	}
	d := registry.Table{}.NewDecoder("claude-code", transcript.Main)
	for range d.Records(transcript.Segment{Data: long}) {
		t.Fatal("a record of a line that has not ended")
	}
	if d.Kept() > 0 {
		t.Errorf("%d bytes of a line of %d are kept", d.Kept(), len(long))
	}
	exact := append(bytes.Repeat([]byte(" "), transcript.MaxLine-2), "{}"...)
	for r := range (registry.Table{}).NewDecoder("claude-code", transcript.Main).Records(transcript.Segment{Data: exact, Rest: true}) {
		if r.Long || !r.Unknown {
			t.Errorf("a line of MaxLine bytes is not parsed: %+v", r.Span)
		}
	}
}

// TestLongLineIsCutAnywhere: what is read of a line over MaxLine stands so in it, also where its beginning ends within an escape.
func TestLongLineIsCutAnywhere(t *testing.T) {
	const begins, kept = `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"a"},{"type":"tool_result","tool_use_id":"t2","content":"`, 256 << 10
	for _, escape := range []string{`\n`, `\u001b`, `\\`} {
		for shift := range len(escape) + 1 {
			text := strings.Repeat("x", kept-len(begins)-shift) + escape + strings.Repeat("x", transcript.MaxLine)
			line := []byte(begins + text + `"}]}}` + "\n")
			for r := range (registry.Table{}).NewDecoder("claude-code", transcript.Main).Records(transcript.Segment{Data: line, Rest: true}) {
				if !r.Long || len(r.Items) == 0 {
					t.Errorf("%s %d: %d items", escape, shift, len(r.Items))
				}
				for _, it := range r.Items {
					if there := line[it.Span.Off:it.Span.End()]; !bytes.Equal(it.Raw, there) {
						t.Errorf("%s %d: an item of %d bytes is not in the line", escape, shift, len(it.Raw))
					}
				}
			}
		}
	}
}

// TestBombs checks that hostile input costs time and memory in proportion, and never crashes the process.
func TestBombs(t *testing.T) {
	n := testkit.Cases(t, 1<<13, 1<<18)
	for name, line := range map[string]string{
		"deep lists":       strings.Repeat("[", n),
		"deep objects":     strings.Repeat(`{"message":`, n/8),
		"deep content":     `{"type":"user","message":{"content":` + strings.Repeat("[", n/32) + strings.Repeat("]", n/32) + "}}",
		"backslashes":      `{"type":"user","x":"` + strings.Repeat(`\\`, n) + `"}`,
		"escaped quotes":   `{"type":"user","message":{"content":"` + strings.Repeat(`\"`, n) + `"}}`,
		"many values":      strings.Repeat(`{"type":"user","message":{"content":"x"}}`, n/16),
		"same key":         "{" + strings.Repeat(`"message":{"content":[]},`, n/16) + `"type":"user"}`,
		"many blocks":      `{"type":"user","message":{"content":[` + strings.Repeat(`{"type":"text","text":"x"},`, n/8) + `""]}}`,
		"open reminders":   `{"type":"user","message":{"content":"` + strings.Repeat(`<system-reminder>`, n/16) + `"}}`,
		"closed reminders": `{"type":"user","message":{"content":"` + strings.Repeat(`<tick></tick>`, n/16) + `"}}`,
		"last reminders":   `{"type":"user","message":{"content":"x` + strings.Repeat(`<tick></tick>`, n/16) + `"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			for _, agent := range []string{"claude-code", "codex", transcript.Messages} {
				if got := records(t, agent, transcript.Main, []byte(line)); len(got) != 1 {
					t.Errorf("%s: %d records, want 1", agent, len(got))
				}
			}
		})
	}
}
