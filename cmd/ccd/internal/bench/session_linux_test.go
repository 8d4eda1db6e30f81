//go:build rig

package bench

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dustin/go-humanize"

	"ccd/archive"
	"ccd/compactor"
	"ccd/internal/agent/registry"
	"ccd/internal/redact"
	"ccd/internal/testkit/gen"
	"ccd/internal/transcript"
	"ccd/watcher"
)

// pass is what one fold and one compaction of a session took, in processor time: other work on the machine does not count.
type pass struct {
	name           string
	bytes          int64
	items, records int
	fold           time.Duration // decoding included
	exact          time.Duration // the same without looking for secrets
	decode         time.Duration // alone, of the same bytes
	rows           int64         // bytes of the heap that the fold holds
	compact        time.Duration // text from the archive
	fetched        int64         // bytes of the spans asked for
	times          int           // that spans were asked for
	again          time.Duration // the compaction once more, after one more record
}

// BenchmarkSession measures fold and compaction of single sessions, the text coming from an archive. The sessions are
// generated ones of $CCD_BENCH_SESSION (50MB) of each agent, or the files of $CCD_BENCH_FILES, separated by colons.
func BenchmarkSession(b *testing.B) {
	files := filepath.SplitList(os.Getenv("CCD_BENCH_FILES"))
	if len(files) == 0 {
		for _, agent := range []string{gen.Claude, gen.Codex} {
			files = append(files, generated(b, agent, env("CCD_BENCH_SESSION", "50MB")))
		}
	}
	var all []pass
	for b.Loop() {
		all = all[:0]
		for _, f := range files {
			all = append(all, measured(b, f))
		}
	}
	passes(b, all)
}

func generated(b *testing.B, agent, size string) string {
	b.Helper()
	n, err := humanize.ParseBytes(size)
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(b.TempDir(), agent+" "+size+".jsonl")
	f, err := os.Create(path)
	if err == nil {
		err = gen.Write(f, agent, 1, int64(n))
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		b.Fatal(err)
	}
	return path
}

// measured archives the transcript at path, folds it and makes its compaction.
func measured(b *testing.B, path string) pass {
	b.Helper()
	s := sessionOf(b, path)
	p := pass{name: strings.TrimSuffix(filepath.Base(path), ".jsonl")}
	a, err := archive.Open(filepath.Join(b.TempDir(), "archive.db"), archive.Options{})
	if err != nil {
		b.Fatal(err)
	}
	segments(b, s, func(seg transcript.Segment) time.Duration {
		if err := a.Append(context.Background(), s, seg); err != nil {
			b.Fatal(err)
		}
		p.bytes = seg.End.Offset
		return 0
	})
	rules, err := redact.New(redact.Config{})
	if err != nil {
		b.Fatal(err)
	}
	agents := registry.Table{Redact: rules}
	p.decode = decoded(b, agents, s, func(*transcript.Record) {})
	for range 4 { // the fastest of each, in turns: the machine is noisy
		exact := decoded(b, agents.Exact(), s, compactor.New(compactor.Defaults(), s).Add)
		fold := decoded(b, agents, s, compactor.New(compactor.Defaults(), s).Add)
		if p.exact == 0 || exact < p.exact {
			p.exact = exact
		}
		if p.fold == 0 || fold < p.fold {
			p.fold = fold
		}
	}
	before := heap()
	c := compactor.New(compactor.Defaults(), s)
	p.fold = min(p.fold, decoded(b, agents, s, c.Add))
	p.rows = heap() - before
	p.records, p.items = c.Status().Records, c.Status().Items
	p.compact, p.fetched, p.times = compacted(b, a, s, c)
	c.Add(&transcript.Record{N: p.records + 1, Span: transcript.Span{Off: p.bytes}, Time: c.Status().Last})
	p.again, _, _ = compacted(b, a, s, c)
	return p
}

// segments gives the segments of a transcript and adds up what is returned.
func segments(b *testing.B, s transcript.Session, use func(transcript.Segment) time.Duration) (took time.Duration) {
	b.Helper()
	for seg, err := range watcher.Tail(context.Background(), s, transcript.Cursor{}, watcher.TailOptions{Rest: true, Torn: true}) {
		if err != nil {
			b.Fatal(err)
		}
		took += use(seg)
	}
	return took
}

// decoded gives the records of a transcript, and tells the time that this and their use took.
func decoded(b *testing.B, agents registry.Table, s transcript.Session, use func(*transcript.Record)) time.Duration {
	b.Helper()
	dec := agents.NewDecoder(s.Agent, s.Class)
	return segments(b, s, func(seg transcript.Segment) time.Duration {
		begin := usedCPU(b)
		for r := range dec.Records(seg) {
			use(r)
		}
		return usedCPU(b) - begin
	})
}

// heap is the bytes in use.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func compacted(b *testing.B, a *archive.Archive, s transcript.Session, c *compactor.Compactor) (took time.Duration, fetched int64, times int) {
	b.Helper()
	r := a.Reader(s.Key, 0)
	runtime.GC() // what was left behind before is not its work
	begin := usedCPU(b)
	_, err := c.Compaction(func(span transcript.Span) ([]byte, error) {
		fetched += span.Len
		times++
		return r.Span(context.Background(), span)
	})
	if err != nil {
		b.Fatal(err)
	}
	return usedCPU(b) - begin, fetched, times
}

func sessionOf(b *testing.B, path string) transcript.Session {
	b.Helper()
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	head := make([]byte, 64<<10)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.ErrUnexpectedEOF {
		b.Fatal(err)
	}
	agent, class, ok := registry.Table{}.Sniff(head[:n])
	if !ok {
		b.Fatalf("%s is of no agent that is known", path)
	}
	return transcript.Session{Key: transcript.Key{Agent: agent, ID: filepath.Base(path)}, Class: class, Path: path, Source: filepath.Base(path)}
}

func passes(b *testing.B, all []pass) {
	b.Helper()
	var t strings.Builder
	t.WriteString("\n| session | MB | records | items | fold MB/s | of it beside decoding | for secrets | rows, bytes an item | compaction | fetched | once more |\n|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, p := range all {
		fmt.Fprintf(&t, "| %s | %.1f | %d | %d | %.0f | %.0f %% | %+.0f %% | %.0f | %d ms | %d spans, %.1f MB | %d ms |\n", p.name, float64(p.bytes)/1e6, p.records, p.items,
			float64(p.bytes)/1e6/p.fold.Seconds(), 100*(1-p.decode.Seconds()/p.fold.Seconds()), 100*(p.fold.Seconds()/p.exact.Seconds()-1), float64(p.rows)/float64(max(1, p.items)),
			p.compact.Milliseconds(), p.times, float64(p.fetched)/1e6, p.again.Milliseconds())
	}
	b.Log(t.String())
	b.ReportMetric(0, "ns/op")
	slowest := slices.MaxFunc(all, func(x, y pass) int { return int(x.compact - y.compact) })
	b.ReportMetric(float64(slowest.compact.Milliseconds()), "ms-slowest-compaction")
	b.ReportMetric(float64(all[0].rows)/float64(max(1, all[0].items)), "row-bytes/item")
}

// hostile are sessions that a compactor may be slow with; each is made with a size of its own unit, once and doubled.
var hostile = []struct {
	name string
	n    int
	make func(w *lines, n int)
}{
	{"one line without a full stop, 80 KB", 80 << 10, func(w *lines, n int) {
		w.assistant(strings.Repeat("and then it went on ", n/20))
	}},
	{"one line without a full stop, 5 MB", 5 << 20, func(w *lines, n int) {
		w.assistant(strings.Repeat("and then it went on ", n/20))
	}},
	{"base64, 5 MB", 5 << 20, func(w *lines, n int) { w.assistant(strings.Repeat("Qk02AwAAAAAAADYAAAAoAAAA", n/24)) }},
	{"ab-ab-, 5 MB", 5 << 20, func(w *lines, n int) { w.assistant(strings.Repeat("ab-", n/3)) }},
	{"the three of them as outputs", 5 << 20, func(w *lines, n int) {
		w.tool("cat a", strings.Repeat("and then it went on ", n/20))
		w.tool("cat b", strings.Repeat("Qk02AwAAAAAAADYAAAAoAAAA", n/24))
		w.tool("cat c", strings.Repeat("ab-", n/3))
	}},
	{"100,000 short human messages", 100000, func(w *lines, n int) {
		for i := range n {
			w.human(fmt.Sprintf("please do step %d now", i))
		}
	}},
	{"100,000 human messages of 300 chars, two texts", 100000, func(w *lines, n int) {
		for i := range n {
			w.human(strings.Repeat([]string{"The same again, please. ", "No, the other one instead. "}[i%2], 12))
		}
	}},
	{"100,000 short replies", 100000, func(w *lines, n int) {
		for i := range n {
			w.assistant(fmt.Sprintf("I decided to take option %d instead of the other.", i))
		}
	}},
	{"300,000 tool calls", 300000, func(w *lines, n int) {
		for i := range n {
			w.tool(fmt.Sprintf("make target-%d", i), "Error: it fails")
		}
	}},
	{"300,000 edits of 5,000 files", 300000, func(w *lines, n int) {
		for i := range n {
			w.edit(fmt.Sprintf("/home/me/ledger/f%d.go", i%5000), i)
		}
	}},
	{"700,000 blank lines", 700000, func(w *lines, n int) { w.b.WriteString(strings.Repeat("\n", n)) }},
	{"700,000 records {}", 700000, func(w *lines, n int) { w.b.WriteString(strings.Repeat("{}\n", n)) }},
}

// lines writes an invented transcript in the shape of Claude Code's.
type lines struct {
	b   strings.Builder
	n   int
	cwd string // "" for /home/me/ledger
}

func (w *lines) add(kind string, content any) {
	w.n++
	line, err := json.Marshal(map[string]any{
		"type": kind, "uuid": fmt.Sprintf("u-%d", w.n), "timestamp": time.UnixMilli(1772600000000 + int64(w.n)*7000).UTC().Format(time.RFC3339),
		"sessionId": "5d2f7a1e-90c4-4a1b-8a53-0c1d2e3f4a5b", "cwd": cmp.Or(w.cwd, "/home/me/ledger"),
		"message": map[string]any{"role": kind, "id": fmt.Sprintf("msg-%d", w.n), "model": "some-model", "content": content},
	})
	if err != nil {
		panic(err)
	}
	w.b.Write(append(line, '\n'))
}

func (w *lines) human(text string) { w.add("user", text) }

func (w *lines) assistant(text string) {
	w.add("assistant", []any{map[string]any{"type": "text", "text": text}})
}

func (w *lines) tool(command, output string) {
	w.use("Bash", map[string]any{"command": command}, output)
}

func (w *lines) edit(path string, i int) {
	w.use("Edit", map[string]any{"file_path": path, "old_string": fmt.Sprintf("a%d", i), "new_string": fmt.Sprintf("a%d", i+1)}, "The file has been updated.")
}

func (w *lines) use(tool string, input any, output string) {
	id := fmt.Sprintf("toolu_%d", w.n)
	w.add("assistant", []any{map[string]any{"type": "tool_use", "id": id, "name": tool, "input": input}})
	w.add("user", []any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": output}})
}

// BenchmarkHostile measures fold and compaction of sessions that invite work which grows with their square: each at its
// size and at twice that size, in one run. A ratio of about 2 is linear.
func BenchmarkHostile(b *testing.B) {
	var t strings.Builder
	t.WriteString("\n| session | MB | fold | compaction | at twice the size: fold | compaction |\n|---|---|---|---|---|---|\n")
	for b.Loop() {
		for _, h := range hostile {
			if only := os.Getenv("CCD_BENCH_ONLY"); !strings.Contains(h.name, only) {
				continue
			}
			var ps [2]pass
			for i := range ps {
				var w lines
				w.human("Go on, please.")
				h.make(&w, h.n<<i)
				w.assistant("That is all.")
				path := filepath.Join(b.TempDir(), "session.jsonl")
				if err := os.WriteFile(path, []byte(w.b.String()), 0o600); err != nil {
					b.Fatal(err)
				}
				ps[i] = measured(b, path)
			}
			fmt.Fprintf(&t, "| %s | %.1f | %d ms | %d ms | x %.1f | x %.1f |\n", h.name, float64(ps[0].bytes)/1e6, ps[0].fold.Milliseconds(), ps[0].compact.Milliseconds(),
				ps[1].fold.Seconds()/ps[0].fold.Seconds(), ps[1].compact.Seconds()/ps[0].compact.Seconds())
		}
	}
	b.Log(t.String())
}
