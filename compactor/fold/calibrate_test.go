package fold

import (
	"strings"
	"testing"

	"ccd/compactor/limits"
	"ccd/internal/transcript"
)

func action(cmd string) transcript.Action {
	return transcript.Action{Op: transcript.Command, Command: cmd, Dir: "/x"}
}

// told is a record of one text of n chars that a reply reports the context of.
func told(n int, reply string, context int64) *transcript.Record {
	r := chatter(n, context)
	if r.Usage != nil {
		r.Usage.ID = reply
	}
	return r
}

func TestCharsPerToken(t *testing.T) {
	image := func() *transcript.Record {
		return &transcript.Record{Items: []transcript.Item{{Kind: transcript.Image, Raw: []byte(`{"data":"x"}`)}}}
	}
	boundary := &transcript.Record{Boundary: &transcript.Boundary{}}
	side := chatter(90000, 0)
	side.Items[0].Side = true
	otherSide := chatter(10, 150000)
	otherSide.Usage.Side = true
	first := told(500, "a", 20000)
	for _, c := range []struct {
		name    string
		records []*transcript.Record
		want    float64
	}{
		{"nothing", nil, 0},
		{"three intervals", []*transcript.Record{first, told(3000, "b", 21000), told(3000, "c", 22000), told(3000, "d", 23000)}, 3},
		{"two are too few", []*transcript.Record{first, told(3000, "b", 21000), told(3000, "c", 22000)}, 0},
		{"too little", []*transcript.Record{first, told(300, "b", 20100), told(300, "c", 20200), told(300, "d", 20300)}, 0},
		{"a reply in records", []*transcript.Record{
			first, chatter(1000, 0), told(1000, "b", 20400), told(1000, "b", 21000), told(3000, "c", 22000), told(3000, "d", 23000),
		}, 3},
		{"a figure repeated", []*transcript.Record{
			told(500, "", 20000), chatter(1000, 20000), chatter(2000, 21000), chatter(3000, 22000), chatter(3000, 23000),
		}, 3},
		{"a fall does not count", []*transcript.Record{
			first, told(3000, "b", 21000), told(3000, "c", 15000), told(3000, "d", 16000), told(3000, "e", 17000),
		}, 3},
		{"what has no chars does not count", []*transcript.Record{
			first, told(3000, "b", 21000), image(), told(3000, "c", 23500), told(3000, "d", 24500), told(3000, "e", 25500),
		}, 3},
		{"a boundary begins anew", []*transcript.Record{
			first, told(3000, "b", 21000), boundary, told(3000, "c", 22000), told(3000, "d", 23000), told(3000, "e", 24000),
		}, 3},
		{"inline sub-agents do not count", []*transcript.Record{
			first, side, told(3000, "b", 21000), otherSide, told(3000, "c", 22000), told(3000, "d", 23000),
		}, 3},
		{"absurd reports do not count", []*transcript.Record{
			first, told(3000, "b", 21000), told(10, "x", 900000000), told(2990, "c", 22000), told(3000, "d", 23000),
		}, 3},
		{"at the least", []*transcript.Record{first, told(3000, "b", 24000), told(3000, "c", 28000), told(3000, "d", 32000)}, 1.5},
		{"at the most", []*transcript.Record{first, told(9000, "b", 21000), told(9000, "c", 22000), told(9000, "d", 23000)}, 6},
	} {
		f := New(limits.Defaults(), transcript.Session{})
		for _, r := range c.records {
			f.Add(r)
		}
		if got := f.CharsPerToken(); got < c.want*0.998 || got > c.want*1.002 {
			t.Errorf("%s: %v chars a token, want %v", c.name, got, c.want)
		}
	}
}

func TestWideShare(t *testing.T) {
	s := newSession()
	if got := s.fold(t).WideShare(); got != 0 {
		t.Errorf("of nothing it is %v", got)
	}
	s.human("abcd ä é — 12")
	if got := s.fold(t).WideShare(); got != 0 {
		t.Errorf("of Latin it is %v", got)
	}
	s.say("修正金额。12345678")
	s.bash("make", strings.Repeat("编", 900)) // outputs do not count
	if got := s.fold(t).WideShare(); got != 5.0/26 {
		t.Errorf("mixed it is %v", got)
	}
	s = newSession()
	s.human("ひらがなカタカナ한글，！")
	if got := s.fold(t).WideShare(); got != 1 {
		t.Errorf("of Japanese and Korean it is %v", got)
	}
}
