package compactor

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// big is a session of about size bytes with outputs of some 30 KB.
func big(size int) []byte {
	s := newScript()
	s.human("Go through all of it.")
	for i := 0; s.buf.Len() < size; i++ {
		s.bash(fmt.Sprintf("make target-%d", i), strings.Repeat(fmt.Sprintf("compiling unit %d of the ledger\n", i), 900)+"3 warnings")
		s.say(fmt.Sprintf("Target %d is built.", i))
		s.read(fmt.Sprintf("/home/me/ledger/f%d.go", i%5000), strings.Repeat(fmt.Sprintf("line of file %d\n", i), 1000))
	}
	return s.buf.Bytes()
}

func TestOnlyWhatIsPrintedIsFetched(t *testing.T) {
	size := 100 << 20
	if testing.Short() || raceEnabled {
		size = 8 << 20
	}
	f := fold(t, big(size), Defaults())
	start := time.Now()
	c := f.compact(t)
	took := time.Since(start)
	printed := int64(strings.Count(c.all(), "\n- #") + strings.Count(c.all(), "\n#"))
	most := 4*int64(f.o.budget()) + printed*32<<10
	t.Logf("%d MB, %d records: %v, %d fetches of %d KB in all (at most %d KB), %d KB of rows", size>>20, f.records.n, took, f.times, f.fetched>>10, most>>10, f.Size()>>10)
	if f.fetched > most {
		t.Errorf("fetched %d bytes, want at most %d", f.fetched, most)
	}
	if size >= 100<<20 && f.fetched > int64(size)/12 {
		t.Errorf("fetched %d of %d bytes", f.fetched, size)
	}
	if took > 5*time.Second && !raceEnabled {
		t.Errorf("took %v", took)
	}
	if n := lexicon.Chars(c.all()); n > f.o.budget() {
		t.Errorf("%d chars", n)
	}
}

func TestGiantsAreReadAtTheirEnds(t *testing.T) {
	s := newScript()
	s.human("Show me the log.")
	s.bash("cat log", strings.Repeat("a line of the \"log\" with a \\ in it\n", 400000)+"ERROR: the end")
	for i := range 20 {
		s.round(i)
	}
	f := fold(t, s.buf.Bytes(), Defaults())
	c := f.compact(t)
	f.check(t, c)
	if f.fetched > 4<<20 {
		t.Errorf("fetched %d bytes", f.fetched)
	}
}

func TestRowsStaySmall(t *testing.T) {
	var before, after runtime.MemStats
	c := New(Defaults(), transcript.Session{})
	runtime.GC()
	runtime.GC() // what earlier tests left behind is gone only now
	runtime.ReadMemStats(&before)
	const n = 60000 // fewer than those that always stay
	raw := []byte(`"a tool said something"`)
	r := &transcript.Record{Items: make([]transcript.Item, 1)}
	for i := range n {
		r.N, r.Span = i+1, transcript.Span{Off: int64(i) * 100, Len: 99}
		r.Items[0] = transcript.Item{Kind: transcript.Result, Raw: raw, Span: transcript.Span{Off: int64(i)*100 + 10, Len: int64(len(raw))}}
		c.Add(r)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	each := float64(after.HeapAlloc-before.HeapAlloc) / n
	t.Logf("%.1f bytes a record with one item; Size says %.1f", each, float64(c.Size())/n)
	if each > 68 {
		t.Errorf("%.1f bytes a record with one item", each)
	}
	if s := float64(c.Size()) / n; s < each*0.8 || s > each*1.3 {
		t.Errorf("Size says %.1f bytes, the heap %.1f", s, each)
	}
	runtime.KeepAlive(c)
}

// TestLongSessions has many small records: what is not printed costs its row and nothing else.
func TestLongSessions(t *testing.T) {
	n := 300000
	if testing.Short() || raceEnabled {
		n = 30000
	}
	raw := []byte(`"A remark that stands in a record of its own and says nothing new."`)
	f := &folded{Compactor: New(tokensOf(13333), transcript.Session{})}
	r := &transcript.Record{Items: make([]transcript.Item, 1)}
	for i := range n {
		r.Hash = mark.Sum(fmt.Append(nil, i))
		off := int64(i) * int64(len(raw)+1)
		r.N, r.Span = i+1, transcript.Span{Off: off, Len: int64(len(raw))}
		kind := transcript.Text
		if i%1000 == 0 {
			kind = transcript.Human
		}
		r.Items[0] = transcript.Item{Kind: kind, Raw: raw, Span: r.Span, Message: fmt.Sprint(i)}
		f.Add(r)
	}
	start := time.Now()
	c, err := f.Compaction(func(transcript.Span) ([]byte, error) { return raw, nil })
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(start)
	t.Logf("%d records: %v, %d chars, %d pointers, %d MB of rows", n, took, lexicon.Chars(c.all()), len(c.Pointers), f.Size()>>20)
	if took > 5*time.Second && !raceEnabled {
		t.Errorf("took %v", took)
	}
	if !c.Header.Verified || lexicon.Chars(c.all()) > f.o.budget() {
		t.Errorf("%d chars, %s", lexicon.Chars(c.all()), c.Header.Reason)
	}
}

func TestCorpus(t *testing.T) {
	files, _ := filepath.Glob("../../shared/corpus/*/*.jsonl")
	more, _ := filepath.Glob("../shared/corpus/*/*.jsonl")
	if files = append(files, more...); len(files) == 0 {
		t.Skip("no corpus of real transcripts beside the project: nothing walked")
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		agent, _, ok := transcript.Sniff(data[:min(len(data), 4096)])
		if !ok {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			for _, budget := range []int{72000, 20000, 13333} {
				f := foldAs(t, agent, transcript.Main, data, tokensOf(budget))
				start := time.Now()
				c := f.compact(t)
				if took := time.Since(start); took > 2*time.Second && !raceEnabled {
					t.Errorf("took %v", took)
				}
				f.check(t, c)
				if n := lexicon.Chars(c.all()); n > f.wholeChars(t)+f.o.LeadChars {
					t.Errorf("%d chars, the items stand in %d", n, f.wholeChars(t))
				}
			}
		})
	}
}

func BenchmarkAdd(b *testing.B) {
	for name, data := range map[string][]byte{"large outputs": big(8 << 20), "talk and edits": day(2000).buf.Bytes()} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				fold(b, data, Defaults())
			}
		})
		b.Run(name+"/decoding alone", func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				for range transcript.NewDecoder("claude-code", transcript.Main).Records(transcript.Segment{Data: data, Rest: true}) {
				}
			}
		})
	}
}

func BenchmarkCompaction(b *testing.B) {
	f := fold(b, big(20<<20), Defaults())
	text := func(s transcript.Span) ([]byte, error) { return f.data[s.Off:s.End()], nil }
	for b.Loop() {
		if _, err := f.Compaction(text); err != nil {
			b.Fatal(err)
		}
	}
}

// A person, or a script in their place, may type very much.
func TestManyMessages(t *testing.T) {
	n := 60000
	if raceEnabled {
		n = 6000
	}
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"type":"user","message":{"role":"user","content":"order %d"},"uuid":"u%d","timestamp":"2026-03-01T09:00:00Z"}`+"\n", i, i)
	}
	f := fold(t, []byte(b.String()), Defaults())
	c := f.compact(t)
	f.check(t, c)
	if !strings.Contains(c.section("State"), "messages, under the ranges of Earlier") {
		t.Error("the messages that are not shown are not counted")
	}
}
