package compactor

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"ccd/compactor/lexicon"
	"ccd/internal/agent/registry"
	"ccd/internal/gen"
	"ccd/internal/mark"
	"ccd/internal/testkit"
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

// What is read for a companion depends on its room: a session twice as long hardly needs more.
func TestOnlyWhatIsPrintedIsFetched(t *testing.T) {
	testkit.Long(t, "what is fetched of 48 MB and of 96 MB")
	var before int64
	for _, size := range []int{48 << 20, 96 << 20} {
		f := folding(t, big(size), Defaults())
		c := f.compact(t)
		_, n := f.Records()
		t.Logf("%d MB, %d records: %d fetches of %d KB, %d KB of rows", size>>20, n, f.times, f.fetched>>10, f.Size()>>10)
		if chars := lexicon.Chars(c.all()); chars > f.o.Budget() {
			t.Errorf("%d chars", chars)
		}
		if before > 0 && f.fetched > before*3/2 {
			t.Errorf("fetched %d bytes of %d MB, %d of half of it", f.fetched, size>>20, before)
		}
		before = f.fetched
	}
}

// After one more message a companion reads that message: what the last one was made from is kept.
func TestARefreshReadsWhatIsNew(t *testing.T) {
	for _, size := range testkit.Sample(t, []int{1 << 20, 8 << 20}, 1) {
		f := folding(t, generated(t, gen.Claude, size), Defaults())
		f.compact(t)
		first := f.times
		for range 3 {
			n := f.Status().Records
			s := newScript()
			s.say(strings.Repeat("The ledger keeps its totals in cents, and the tests pass again. ", 32))
			at := int64(len(f.data))
			f.data = append(f.data, s.buf.Bytes()...)
			for r := range (registry.Table{}).NewDecoder("claude-code", transcript.Main).Records(transcript.Segment{Start: transcript.Cursor{Offset: at}, Data: s.buf.Bytes()}) {
				r.N = n + 1
				f.Add(r)
			}
			f.times = 0
			if f.compact(t); f.times > 8 || first < 100 {
				t.Errorf("%d MB: %d fetches, then %d", size>>20, first, f.times)
			}
		}
	}
}

// The fold allocates little per record, whatever the agent.
func TestTheFoldAllocatesLittle(t *testing.T) {
	for agent, most := range map[string]uint64{gen.Claude: 27, gen.Codex: 18} {
		data := generated(t, agent, 2<<20)
		var f *folded
		n := mallocs(func() { f = foldingAs(t, agent, transcript.Main, data, Defaults()) })
		if each := n / uint64(f.Status().Records); each > most {
			t.Errorf("%s: %d allocations per record, at most %d are expected", agent, each, most)
		}
	}
}

func generated(t *testing.T, agent string, size int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := gen.Write(&b, agent, 1, int64(size)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// mallocs returns how many objects a function allocates.
func mallocs(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.Mallocs - before.Mallocs
}

func TestGiantsAreReadAtTheirEnds(t *testing.T) {
	s := newScript()
	s.human("Show me the log.")
	s.bash("cat log", strings.Repeat("a line of the \"log\" with a \\ in it\n", testkit.Cases(t, 150000, 400000))+"ERROR: the end")
	for i := range 20 {
		s.round(i)
	}
	f := folding(t, s.buf.Bytes(), Defaults())
	c := f.compact(t)
	f.check(t, c)
	if f.fetched > 4<<20 {
		t.Errorf("fetched %d bytes", f.fetched)
	}
}

// Many small records: what is not printed costs its row and nothing else.
func TestLongSessions(t *testing.T) {
	var before int64
	for _, n := range []int{testkit.Cases(t, 5000, 25000), testkit.Cases(t, 20000, 100000)} {
		raw := []byte(`"A remark that stands in a record of its own and says nothing new."`)
		f := &folded{Compactor: New(tokensOf(13333), transcript.Session{})}
		r := &transcript.Record{Items: make([]transcript.Item, 1)}
		for i := range n {
			r.Hash = mark.Sum(fmt.Append(nil, i))
			r.N, r.Span = i+1, transcript.Span{Off: int64(i) * int64(len(raw)+1), Len: int64(len(raw))}
			kind := transcript.Text
			if i%1000 == 0 {
				kind = transcript.Human
			}
			r.Items[0] = transcript.Item{Kind: kind, Raw: raw, Span: r.Span, Message: fmt.Sprint(i)}
			f.Add(r)
		}
		c, err := f.Compaction(func(s transcript.Span) ([]byte, error) { f.fetched += s.Len; return raw, nil })
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d records: %d chars, %d pointers, fetched %d KB", n, lexicon.Chars(c.all()), len(c.Pointers), f.fetched>>10)
		if lexicon.Chars(c.all()) > f.o.Budget() || c.Header.KeyInformation.Lost > 0 {
			t.Errorf("%d chars, %s", lexicon.Chars(c.all()), c.Header.Reason)
		}
		if before > 0 && f.fetched > 2*before {
			t.Errorf("fetched %d bytes, %d of a quarter of the session", f.fetched, before)
		}
		before = f.fetched
	}
}

func TestCorpus(t *testing.T) {
	files, _ := filepath.Glob("../../shared/corpus/*/*.jsonl")
	if len(files) == 0 {
		t.Skip("no corpus of real transcripts beside the project: nothing walked")
	}
	for _, file := range testkit.Sample(t, files, 3) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		agent, _, ok := registry.Table{}.Sniff(data[:min(len(data), 4096)])
		if !ok {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			for _, tokens := range []int{72000, 13333} {
				f := foldingAs(t, agent, transcript.Main, data, tokensOf(tokens))
				c := f.compact(t)
				f.check(t, c)
				if n := lexicon.Chars(c.all()); n > f.whole()+f.o.LeadChars {
					t.Errorf("%d chars, the items stand in %d", n, f.whole())
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
				folding(b, data, Defaults())
			}
		})
		b.Run(name+"/decoding alone", func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				for range (registry.Table{}).NewDecoder("claude-code", transcript.Main).Records(transcript.Segment{Data: data, Rest: true}) {
				}
			}
		})
	}
}

func BenchmarkCompaction(b *testing.B) {
	f := folding(b, big(20<<20), Defaults())
	text := func(s transcript.Span) ([]byte, error) { return f.data[s.Off:s.End()], nil }
	for b.Loop() {
		if _, err := f.Compaction(text); err != nil {
			b.Fatal(err)
		}
	}
}
