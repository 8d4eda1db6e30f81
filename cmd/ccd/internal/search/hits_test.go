package search_test

import (
	"bytes"
	"context"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ccd/archive"
	"ccd/cmd/ccd/internal/account"
	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/search"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

// What is read ahead comes in order, lines that are too large to be copied among it, wherever the search is left, and
// nothing goes on behind it.
func TestReadingAheadEndsWithTheSearch(t *testing.T) {
	s := newShelf(t)
	var in []*reader.Entry
	for _, id := range []string{"one", "two", "three"} {
		text := asked("ink 1") + asked(strings.Repeat("soot ", 850_000)+"ink 2") + strings.Repeat(asked("soot"), 3000) + asked("ink 3")
		in = append(in, s.source(s.put("claude-code", id, transcript.Main, 1, text, 1<<22)))
		in = append(in, s.source(s.put("claude-code", id+"/tool-results/x.txt", transcript.Attachment, 1, strings.Repeat("ink\n", 400_000), 1<<22)))
	}
	seen := false
	all := search.Search{Library: s.library(), Sessions: in, Query: search.Query{Words: []string{"ink"}}}
	for _, n := range testkit.Sample(t, []int{1, 2, 3, 4, 7, 13}, 2) {
		var got []int
		for h, err := range all.Hits(context.Background()) {
			testkit.Must(t, err)
			if got = append(got, h.Record); len(got) == n {
				break
			}
			seen = seen || reading()
		}
		want := []int{3003, 2, 1, 0, 3003, 2, 1, 0, 3003, 2, 1, 0}
		if diff := cmp.Diff(want[:min(n, len(want))], got); diff != "" {
			t.Errorf("left after %d: records (-want +got):\n%s", n, diff)
		}
		if reading() {
			t.Errorf("left after %d: it is still read", n)
		}
	}
	if !seen {
		t.Error("nothing was read ahead: the test sees nothing")
	}
}

func reading() bool {
	stacks := make([]byte, 1<<20)
	return bytes.Contains(stacks[:runtime.Stack(stacks, true)], []byte("(*finder).results"))
}

// What panics while it reads ahead does so where the search is asked for, and where it can be taken up.
func TestPanicsComeToWhoeverAsks(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("nothing panicked: the test sees nothing")
		}
	}()
	one := &reader.Entry{Session: archive.Session{Generations: []archive.Generation{{N: 1, Tip: transcript.Cursor{Offset: 1}}}}}
	_, _ = search.Search{Library: &reader.Library{Place: &account.Place{}}, Sessions: []*reader.Entry{one}, Query: search.Query{Words: []string{"ink"}}}.Best(context.Background())
}

// TestSearchIsBounded: a search for a few hits does not read old sessions once it has found some, says how many it left out, and reads
// all that may have a word until then.
func TestSearchIsBounded(t *testing.T) {
	s := newShelf(t)
	var in []*reader.Entry
	for i, text := range []string{"soot 1", "inky soot 2", "soot 3", "inky soot 4"} {
		in = append(in, s.source(s.put("claude-code", strconv.Itoa(i), transcript.Main, 1, strings.Repeat(returned("a", strings.Repeat("ash ", 1000)), 30)+asked(text), 1<<20)))
	}
	for _, c := range []struct {
		word             string
		most, hits, left int
		counts           func(search.Hit) bool
	}{
		{"soot", 5, 4, 0, nil},
		{"soot", 1, 1, 3, nil},
		{"inky", 1, 1, 2, nil},
		{"in", 0, 2, 0, nil},
		{"in", 1, 1, 0, nil},
		{"coal", 1, 0, 0, nil},
		{"ash", 1, 1, 3, nil},
		{"ash", 1, 1, 0, search.Hit.Said},
		{"soot", 1, 1, 3, search.Hit.Said},
	} {
		found, err := search.Search{Library: s.library(), Sessions: in, Query: search.Query{Words: []string{c.word}}, Most: c.most, Counts: c.counts}.Best(context.Background())
		if n := len(found.All()); err != nil || n != c.hits || found.Left != c.left {
			t.Errorf("%s: %d hits of %d, %d sessions left, %v; want %d and %d", c.word, n, c.most, found.Left, err, c.hits, c.left)
		}
	}
}
