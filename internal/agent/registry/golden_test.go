package registry_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ccd/internal/agent/registry"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

var update = flag.Bool("update", false, "write the golden files anew")

// fixtures lists invented transcripts with every form of record that ccd knows.
var fixtures = []struct {
	file  string
	agent string
	class transcript.Class
}{
	{"claude.jsonl", "claude-code", transcript.Main},
	{"claude.jsonl", "claude-code", transcript.SubAgent},
	{"codex.jsonl", "codex", transcript.Main},
	{"codex_legacy.jsonl", "codex", transcript.Main},
	{"messages.jsonl", transcript.Messages, transcript.Main},
	{"messages.json", transcript.Messages, transcript.Main},
}

func TestGolden(t *testing.T) {
	for _, f := range fixtures {
		name := fmt.Sprintf("%s.%d.golden", f.file, f.class)
		t.Run(name, func(t *testing.T) {
			data := read(t, filepath.Join("testdata", f.file))
			var b strings.Builder
			for r := range (registry.Table{}).NewDecoder(f.agent, f.class).Records(transcript.Segment{Data: data, Rest: true}) {
				dump(&b, r)
				meaning(&b, r)
			}
			compare(t, filepath.Join("testdata", name), b.String())
		})
	}
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	testkit.Must(t, err)
	return data
}

// dump writes all fields of a decoded record, in lines that people can check.
func dump(b *strings.Builder, r *transcript.Record) {
	fmt.Fprintf(b, "#%d %d+%d %s", r.N, r.Span.Off, r.Span.Len, r.Type)
	for _, f := range []struct {
		name string
		on   bool
	}{{"UI", r.UI}, {"Unknown", r.Unknown}, {"Broken", r.Broken}, {"Long", r.Long}} {
		if f.on {
			b.WriteString(" " + f.name)
		}
	}
	for _, f := range [][2]string{
		{"uuid", r.UUID},
		{"model", r.Model},
		{"cwd", r.Cwd},
		{"branch", r.Branch},
		{"version", r.Version},
		{"title", r.Title},
		{"agent", r.Agent},
		{"parent", r.Parent},
		{"origin", r.Origin},
		{"chosen", r.Chosen},
		{"queued", r.Queued},
	} {
		if f[1] != "" {
			fmt.Fprintf(b, " %s=%s", f[0], f[1])
		}
	}
	if !r.Time.IsZero() {
		fmt.Fprintf(b, " at %s", r.Time.Format(time.RFC3339Nano))
	}
	if r.Back != 0 {
		fmt.Fprintf(b, " back %d", r.Back)
	}
	if r.Resumed != nil {
		fmt.Fprintf(b, " resumed %+v", *r.Resumed)
	}
	b.WriteByte('\n')
	if r.Usage != nil {
		u := *r.Usage
		fmt.Fprintf(b, "   usage {ID:%s Context:%d Window:%d Side:%t}\n", u.ID, u.Context, u.Window, u.Side)
	}
	if r.Boundary != nil {
		fmt.Fprintf(b, "   boundary %+v\n", *r.Boundary)
	}
	for _, i := range r.Items {
		fmt.Fprintf(b, "   %s %d+%d", i.Kind, i.Span.Off, i.Span.Len)
		for _, f := range [][2]string{{"tool", i.Tool}, {"call", i.Call}, {"message", i.Message}} {
			if f[1] != "" {
				fmt.Fprintf(b, " %s=%s", f[0], f[1])
			}
		}
		for _, f := range []struct {
			name string
			on   bool
		}{{"failed", i.Failed}, {"refused", i.Refused}, {"side", i.Side}, {"beside", i.Frame == transcript.Beside}, {"reported", i.Frame == transcript.Reported}, {"within", i.Frame == transcript.Within}} {
			if f.on {
				b.WriteString(" " + f.name)
			}
		}
		fmt.Fprintf(b, " %.300s\n", i.Raw)
	}
}
