package remote

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ccd/archive"
	"ccd/internal/remote/pulled"
	"ccd/internal/testkit/gen"
	"ccd/internal/testkit/plot"
	"ccd/internal/transcript"
)

// Amazon's list prices in USD.
const (
	usdPut   = 0.005 / 1000  // also LIST
	usdGet   = 0.0004 / 1000 // also the HEAD before a DELETE, which costs nothing
	usdMonth = 0.023 / 1e9   // to store a byte
	usdOut   = 0.09 / 1e9    // a byte that leaves Amazon
)

// cost is what an operation asks of a store.
type cost struct {
	put, get, list, del int
	sent, got           int64 // bytes
}

func (c cost) usd() float64 { return float64(c.put+c.list)*usdPut + float64(c.get+c.del)*usdGet }

func (c cost) times(n int) cost {
	return cost{c.put * n, c.get * n, c.list * n, c.del * n, c.sent * int64(n), c.got * int64(n)}
}

// String returns the requests.
func (c cost) String() string {
	var all []string
	for _, one := range []struct {
		n    int
		kind string
	}{{c.list, "LIST"}, {c.get, "GET"}, {c.put, "PUT"}, {c.del, "DELETE"}} {
		if one.n > 0 {
			all = append(all, fmt.Sprintf("%d %s", one.n, one.kind))
		}
	}
	return strings.Join(all, ", ")
}

func (m *memory) costs(do func()) cost {
	clear(m.requests)
	clear(m.bytes)
	do()
	r := m.requests
	return cost{r["put"], r["get"], r["list"], r["delete"], m.bytes["put"], m.bytes["get"]}
}

func size(n int64) string {
	switch {
	case n == 0:
		return "0"
	case n < 1e6:
		return fmt.Sprintf("%.3g KB", float64(n)/1e3)
	case n < 1e9:
		return fmt.Sprintf("%.3g MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.3g GB", float64(n)/1e9)
}

// fleet are machines with one reader.
type fleet struct {
	b   *testing.B
	s   *memory
	at  []float64
	ops []string // in order
	of  map[string][]cost
}

func (f *fleet) note(op string, c cost) {
	if !slices.Contains(f.ops, op) {
		f.ops = append(f.ops, op)
	}
	f.of[op] = append(f.of[op], c)
}

// refresh is `ccd remote pull` in a process of its own: all machines, or the one with an ID, or one session of it.
func refresh(b *testing.B, s *memory, me *box, dir, machine, only string) {
	b.Helper()
	r := readerAt(b, s, me.reader, dir)
	names, _, err := r.Names(b.Context())
	must(b, err)
	for _, name := range names {
		if machine != "" && name != machine {
			continue
		}
		if _, err := r.Pull(b.Context(), name, only); err != nil {
			b.Fatal(err)
		}
	}
}

// The operations that are counted for fleets.
const (
	opPush   = "each pushes"
	opIdle   = "pull, no news"
	opNews   = "pull, all pushed"
	opOne    = "pull --machine"
	opItem   = "first, a session"
	opNew    = "first pull"
	opLost   = "first, a machine"
	opForget = "forget, gc"
)

// small counts what fleets of machines cost of which each one is real: with its own archive, key and pushes. Each has 3 sessions
// of 1 KB, in 2 packs.
func (f *fleet) small() {
	me := identity(f.b)
	var all []*box
	dir := f.b.TempDir()
	for _, n := range f.at {
		for len(all) < int(n) {
			b := newBox(f.b, f.s, me)
			for k := range 3 {
				b.grow(fmt.Sprint("s", k), talk(uint64(len(all)*3+k), 1000))
				if k > 0 {
					b.push()
				}
			}
			b.stop()
			all = append(all, b)
		}
		push := func(b *box) {
			b.start()
			b.grow("s1", talk(uint64(len(b.content["s1"])), 500))
			b.push()
			b.stop()
		}
		last := all[len(all)-1]
		last.start()
		id := last.ID()
		fresh := func() string { return f.b.TempDir() }
		f.note(opNew, f.s.costs(func() { refresh(f.b, f.s, last, dir, "", "") }))
		f.note(opIdle, f.s.costs(func() { refresh(f.b, f.s, last, dir, "", "") }))
		f.note(opPush, f.s.costs(func() {
			for _, b := range all {
				push(b)
			}
		}))
		f.note(opNews, f.s.costs(func() { refresh(f.b, f.s, last, dir, "", "") }))
		push(last)
		f.note(opOne, f.s.costs(func() { refresh(f.b, f.s, last, dir, id, "") }))
		f.note(opItem, f.s.costs(func() { refresh(f.b, f.s, last, fresh(), id, "s0") }))
		f.note(opLost, f.s.costs(func() { refresh(f.b, f.s, last, fresh(), id, "") }))
		last.equal(dir, id)
		f.note(opForget, f.s.costs(func() {
			_, err := last.archive.Forget(f.b.Context(), archive.Removal{Sessions: []transcript.Key{session("s2").Key}}, nil)
			must(f.b, err)
			last.start()
			last.push()
			_, err = last.GC(f.b.Context(), GCOptions{})
			must(f.b, err)
		}))
		last.stop()
		dir = f.b.TempDir() // the next reader is new
	}
}

// history is a machine with 10,000 sessions, and what was counted of it.
type history struct {
	*box
	first, day, gc, lost, item, forget cost
	raw                                int64 // of the sessions before the day
	dayRaw, dayPacks                   int64
}

const (
	sessions    = 10_000
	sessionSize = 20_000
	pushes      = 120
)

// large counts a machine with a long history: its first push, a day of 120 pushes with 50 MB in 40 sessions, gc, recovery.
func (f *fleet) large() *history {
	var text bytes.Buffer
	must(f.b, gen.Write(&text, gen.Claude, 1, 50e6))
	h := &history{box: newBox(f.b, f.s, identity(f.b))}
	var batch []archive.Addition
	for n := range sessions {
		off := n * 7919 * 100 % (text.Len() - sessionSize)
		data := append(fmt.Appendf(nil, "{\"n\":%d}\n", n), text.Bytes()[off:off+sessionSize]...)
		batch = append(batch, archive.Addition{Session: session(fmt.Sprintf("%05d", n)), Segment: transcript.Segment{
			Start: transcript.Cursor{Generation: 1}, Data: data, End: transcript.Cursor{Generation: 1, Offset: int64(len(data))},
		}})
		h.raw += int64(len(data))
		if len(batch) == 500 {
			_, err := h.archive.Save(f.b.Context(), batch, nil)
			must(f.b, err)
			batch = nil
		}
	}
	h.first = f.s.costs(func() { h.push() })
	rest := text.Bytes()
	h.day = f.s.costs(func() {
		for n := range pushes {
			for k := range 3 {
				piece := rest[:text.Len()/pushes/3]
				rest = rest[len(piece):]
				h.dayRaw += int64(len(piece))
				h.grow(fmt.Sprintf("%05d", sessions-40+(n/10*3+k)%40), piece)
			}
			h.dayPacks += h.push().Sent
		}
	})
	h.item = f.s.costs(func() { refresh(f.b, f.s, h.box, f.b.TempDir(), h.ID(), "00042") })
	h.lost = f.s.costs(func() { h.same(readerAt(f.b, f.s, h.reader, f.b.TempDir())) })
	h.forget = f.s.costs(func() {
		_, err := h.archive.Forget(f.b.Context(), archive.Removal{Sessions: []transcript.Key{session("00007").Key}}, nil)
		must(f.b, err)
		h.push()
	})
	h.gc = f.s.costs(func() {
		_, err := h.GC(f.b.Context(), GCOptions{})
		must(f.b, err)
	})
	return h
}

// copies makes n-1 more machines that have the packs of h under keys of their own, and counts what a reader that has pulled
// all of them asks for. The pulled archives are one file.
func (f *fleet) copies(h *history, n int) (catalogues, idle cost) {
	dir := f.b.TempDir()
	r := readerAt(f.b, f.s, h.reader, dir)
	h.same(r)
	seen, err := r.look(f.b.Context(), h.ID(), true)
	must(f.b, err)
	own := map[string][]byte{}
	for name, data := range f.s.objects {
		if rest, ok := strings.CutPrefix(name, prefixOf(h.ID())); ok {
			own[rest] = data
		}
	}
	for range n - 1 {
		m := newMeta()
		head := Head{Seq: 1, Time: time.Now()}
		object, err := h.coder.encodeHead(&head, seen.inner, m.key())
		must(f.b, err)
		f.s.objects[headsPrefix+head.Machine] = object
		for rest, data := range own {
			f.s.objects[prefixOf(head.Machine)+rest] = data
		}
	}
	names, _, err := r.Names(f.b.Context())
	must(f.b, err)
	catalogues = f.s.costs(func() {
		for _, name := range names {
			s, err := r.look(f.b.Context(), name, true)
			if must(f.b, err); s.Sessions != sessions-1 { // one was forgotten
				f.b.Fatalf("%d sessions", s.Sessions)
			}
		}
	})
	for _, name := range names { // as after a pull
		m, err := pulled.Read(dir, name)
		must(f.b, err)
		m.Whole = true
		must(f.b, pulled.Write(dir, m))
		if name != h.ID() {
			must(f.b, os.Link(pulled.Archive(dir, h.ID()), pulled.Archive(dir, name)))
		}
	}
	return catalogues, f.s.costs(func() { refresh(f.b, f.s, h.box, dir, "", "") })
}

// BenchmarkFleet counts the requests and bytes of many machines and one reader with the shipped code, over a store in memory.
// With $CCD_BENCH_DOCS it writes the table and the plot of docs/REMOTE-FORMAT.md.
func BenchmarkFleet(b *testing.B) {
	for b.Loop() {
		f := &fleet{b: b, s: newMemory(), at: []float64{1, 10, 100, 1000}, of: map[string][]cost{}}
		f.small()
		counted := slices.Clone(f.ops)
		f.s.objects = map[string][]byte{}
		h := f.large()
		catalogues, idle := f.copies(h, 1000)
		text, svg := f.report(counted, h, catalogues, idle)
		b.Log("\n" + text)
		if dir := os.Getenv("CCD_BENCH_DOCS"); dir != "" {
			must(b, os.WriteFile(filepath.Join(dir, "remote-cost.svg"), []byte(svg), 0o644))
			page := filepath.Join(dir, "REMOTE-FORMAT.md")
			old, err := os.ReadFile(page)
			must(b, err)
			before, rest, ok := strings.Cut(string(old), "<!-- costs -->\n")
			_, after, end := strings.Cut(rest, "<!-- /costs -->\n")
			if !ok || !end {
				b.Fatal(page, "has no place for the table")
			}
			must(b, os.WriteFile(page, []byte(before+"<!-- costs -->\n"+text+"<!-- /costs -->\n"+after), 0o644))
		}
	}
	b.ReportMetric(0, "ns/op")
}

func (f *fleet) report(counted []string, h *history, catalogues, idle cost) (text, svg string) {
	var t strings.Builder
	t.WriteString("| operation | 1 machine | 1,000 machines | USD for 1,000 |\n|---|---|---|---|\n")
	for _, op := range counted { // the plot has the numbers between
		one, all := f.of[op][0], f.of[op][len(f.at)-1]
		fmt.Fprintf(&t, "| %s | %s | %s | %s |\n", op, one, all, dollars(all.usd()))
	}
	t.WriteString("\n| one machine with 10,000 sessions | requests | sent | received | USD | egress |\n|---|---|---|---|---|---|\n")
	row := func(what string, c cost) {
		fmt.Fprintf(&t, "| %s | %s | %s | %s | %s | %s |\n", what, c, size(c.sent), size(c.got), dollars(c.usd()), dollars(float64(c.got)*usdOut))
	}
	row("first push, "+size(h.raw), h.first)
	row(fmt.Sprintf("a day: %d pushes, %s", pushes, size(h.dayRaw)), h.day)
	row(opItem, h.item)
	row(opLost, h.lost)
	row("forget one session", h.forget)
	row("gc, without a grace period", h.gc)
	row("1,000 of them: heads and catalogues", catalogues)
	row("1,000 of them, 10 million sessions: pull without news", idle)

	day := func(n int) float64 { return h.day.times(n).usd() }
	packs := float64(h.dayPacks)
	month := func(n int) float64 { return packs * 250 * float64(n) * usdMonth }
	read := func(n int) float64 { // one reader, 8 times a day; every machine has news each time
		return 8*f.of[opNews][slices.Index(f.at, float64(n))].usd() + packs*float64(n)*usdOut
	}
	lines := map[string]func(n int) float64{
		"pushes": day, "storage": func(n int) float64 { return month(n) / 30 }, "one reader": read,
		"all read all": func(n int) float64 { return float64(n) * read(n) },
		"idle reader":  func(n int) float64 { return 8 * f.of[opIdle][slices.Index(f.at, float64(n))].usd() },
	}
	t.WriteString("\n| USD a day |")
	for _, n := range f.at {
		fmt.Fprintf(&t, " %g |", n)
	}
	t.WriteString("\n|---|" + strings.Repeat("---|", len(f.at)) + "\n")
	tick := func(power int) string { return dollars(math.Pow10(power)) }
	daily := plot.Panel{Title: "USD a day", Unit: "machines", At: f.at, Low: -5, High: 5, Tick: tick}
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		l := plot.Line{Name: name}
		fmt.Fprintf(&t, "| %s |", name)
		for _, n := range f.at {
			l.Values = append(l.Values, lines[name](int(n)))
			fmt.Fprintf(&t, " %s |", dollars(lines[name](int(n))))
		}
		t.WriteString("\n")
		daily.Lines = append(daily.Lines, l)
	}
	once := plot.Panel{Title: "requests of one operation", Unit: "machines", At: f.at, Low: 0, High: 4, Tick: tick}
	for _, op := range counted {
		l := plot.Line{Name: op}
		for _, c := range f.of[op] {
			l.Values = append(l.Values, float64(c.put+c.get+c.list+c.del))
		}
		once.Lines = append(once.Lines, l)
	}
	return t.String(), plot.SVG("What copies of many machines cost, over their number", daily, once)
}

// dollars returns an amount with two digits that count.
func dollars(v float64) string {
	if v == 0 {
		return "0"
	}
	digits := max(0, 1-int(math.Floor(math.Log10(v))))
	if digits == 0 {
		return fmt.Sprintf("%.0f", v)
	}
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.*f", digits, v), "0"), ".")
}
