package unit

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"ccd/compactor/fold"
	"ccd/compactor/limits"
)

// zone is what of a session should stay word by word, whatever the room: its chars of all, its messages and its records.
func (j *journal) zone(change func(*limits.Options)) (chars, all int64, messages, records int) {
	o := limits.Defaults()
	change(&o)
	w := j.writer(o)
	start := w.recentStart()
	from, to := w.f.Rows()
	for i := from; i < to; i++ {
		row := w.row(i)
		all += int64(row.Chars)
		if int(row.Rec) >= start {
			chars += int64(row.Chars)
			if row.Has(fold.Opens) {
				messages++
			}
		}
	}
	_, last := w.f.Records()
	return chars, all, messages, last - start
}

func trees(n int) *journal {
	j := newJournal()
	j.line("user", "Tell me about the orchard.")
	for i := range n {
		j.at = j.at.Add(10 * time.Minute)
		j.say(fmt.Sprintf("Tree %d. ", i) + strings.Repeat("It stands by the wall. ", 20))
	}
	return j
}

func TestNewestShareStaysVerbatim(t *testing.T) {
	j := trees(200)
	for _, share := range []float64{0.30, 0.10, 0.60} {
		chars, all, _, _ := j.zone(func(o *limits.Options) { o.RecentShare = share })
		if got := float64(chars) / float64(all); got < share || got > share+0.1 {
			t.Errorf("share %.2f: %.2f of the text stays", share, got)
		}
	}
}

func TestLastMessagesStayVerbatim(t *testing.T) {
	j := trees(60)
	for _, n := range []int{5, 9} {
		if _, _, got, _ := j.zone(func(o *limits.Options) { o.RecentShare, o.RecentMessages = 0, n }); got < n || got > 2*n {
			t.Errorf("%d messages stay, want %d", got, n)
		}
	}
	// What the agent no longer holds is in the zone only to make up that number.
	j.buf.WriteString(`{"type":"system","subtype":"compact_boundary","content":"Conversation compacted","compactMetadata":{"trigger":"auto"}}` + "\n")
	j.say("One.")
	if _, _, got, records := j.zone(func(o *limits.Options) { o.RecentShare = 1 }); records <= 2 || got > 10 {
		t.Errorf("%d messages in %d records stay behind a boundary", got, records)
	}
}

func TestYoungResultsStayVerbatim(t *testing.T) {
	j := newJournal()
	for i := range 100 {
		j.bash(fmt.Sprintf("make target%d", i), "built")
	}
	within := func(limit time.Duration) int {
		_, _, _, n := j.zone(func(o *limits.Options) { o.RecentShare, o.RecentMessages, o.RecentResults = 0, 1, limit })
		return n
	}
	// Records are 7 seconds apart.
	if n := within(5 * time.Minute); n < 42 || n > 60 {
		t.Errorf("%d records of the last 5 minutes stay", n)
	}
	if n := within(0); n > 5 {
		t.Errorf("without that limit %d records stay", n)
	}
	j.buf.WriteString(`{"type":"user","message":{"role":"user","content":"And then?"}}` + "\n")
	if n := within(5 * time.Minute); n > 5 {
		t.Errorf("behind a record without a time %d records stay", n)
	}
}
