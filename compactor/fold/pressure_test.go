package fold

import (
	"strings"
	"testing"

	"ccd/compactor/limits"
	"ccd/internal/transcript"
)

func TestLimit(t *testing.T) {
	o := limits.Defaults()
	if got := limit(&o, 200000); got != 170616 {
		t.Errorf("limit = %d, want 170616", got)
	}
	o.MaxOutput = 64000
	if got := limit(&o, 200000); got != 167000 {
		t.Errorf("limit with a large output = %d, want 167000", got)
	}
	o.Threshold = 5
	if got := limit(&o, 200000); got != 5 {
		t.Errorf("limit = %d, want the one given", got)
	}
}

// chatter is a record of one assistant text of n chars, with usage where used is not 0.
func chatter(n int, used int64) *transcript.Record {
	raw := []byte(`"` + strings.Repeat("x", n) + `"`)
	r := &transcript.Record{Items: []transcript.Item{{Kind: transcript.Text, Raw: raw, Span: transcript.Span{Len: int64(len(raw))}}}}
	if used > 0 {
		r.Usage = &transcript.Usage{Context: used}
	}
	return r
}

func TestTriggers(t *testing.T) {
	repeat := func(n int, r *transcript.Record) (all []*transcript.Record) {
		for range n {
			all = append(all, r)
		}
		return all
	}
	boundary := &transcript.Record{Boundary: &transcript.Boundary{}}
	for _, c := range []struct {
		name    string
		records []*transcript.Record
		want    string
	}{
		{"nothing", nil, ""},
		{"small", repeat(10, chatter(100, 0)), ""},
		{"boundary whatever the size", []*transcript.Record{boundary}, "boundary"},
		{"over the threshold", repeat(13, chatter(10000, 1000)), "threshold"},
		{"just below it", repeat(12, chatter(10000, 1000)), ""},
		{"pressure as reported", repeat(10, chatter(5000, 120000)), "pressure"},
		{"pressure below", repeat(10, chatter(5000, 119000)), ""},
		{"pressure, but nothing to save", repeat(7, chatter(5000, 150000)), ""},
		{"pressure as estimated", repeat(10, chatter(9001, 0)), "pressure"},
		{"stays fired", append(repeat(10, chatter(5000, 130000)), chatter(1, 10), boundary), "pressure"},
		{"a large message is not old", append(repeat(2, chatter(5000, 10)), chatter(200000, 190000)), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := New(limits.Defaults(), transcript.Session{})
			for _, r := range c.records {
				f.Add(r)
			}
			if got := f.Status().Trigger; got != c.want {
				t.Errorf("Trigger = %q, want %q: %+v", got, c.want, f.Status())
			}
		})
	}
}

func TestPressureLevelAndWindow(t *testing.T) {
	o := limits.Defaults()
	o.Windows = map[string]int64{"some-": 100000, "some-model-2": 400000}
	named := func(model string, used, window int64) *transcript.Record {
		return &transcript.Record{Model: model, Usage: &transcript.Usage{Context: used, Window: window}}
	}
	side := &transcript.Record{Model: "another", Usage: &transcript.Usage{Context: 999999, Side: true}}
	for _, c := range []struct {
		name     string
		records  []*transcript.Record
		window   int64
		assumed  bool
		pressure float64
		level    limits.Level
	}{
		{"unknown model", []*transcript.Record{named("x", 50000, 0)}, 200000, true, 0.25, limits.Gentle},
		{"longest prefix", []*transcript.Record{named("some-model-2b", 100000, 0)}, 400000, false, 0.25, limits.Gentle},
		{"shorter prefix", []*transcript.Record{named("some-other", 65000, 0)}, 100000, false, 0.65, limits.Standard},
		{"[1m]", []*transcript.Record{named("x[1m]", 500000, 0)}, 1000000, false, 0.5, limits.Gentle},
		{"stated", []*transcript.Record{named("some-other", 200000, 258400)}, 258400, false, 200000.0 / 258400, limits.Aggressive},
		{"claimed larger", []*transcript.Record{named("x", 190000, 0), named("x", 250000, 0)}, 1000000, true, 0.25, limits.Maximum},
		{"proven larger", []*transcript.Record{named("x", 190000, 0), named("x", 240000, 0), named("x", 245000, 0), named("x", 250000, 0)}, 1000000, false, 0.25, limits.Gentle},
		{"a claim ends with the model", []*transcript.Record{named("x", 250000, 0), named("some-", 50000, 0)}, 100000, false, 0.5, limits.Gentle},
		{"contradicted", []*transcript.Record{named("x", 100000, 0), named("x", 650000, 0), named("x", 110000, 0)}, 200000, true, 0.55, limits.Gentle},
		{"contradicted by a boundary", []*transcript.Record{named("x", 650000, 0), {Boundary: &transcript.Boundary{Before: 150000}}, named("x", 10000, 0)}, 200000, true, 0.05, limits.Gentle},
		{"chosen", []*transcript.Record{{Chosen: "x[1m]"}, named("x", 250000, 0)}, 1000000, false, 0.25, limits.Gentle},
		{"another chosen", []*transcript.Record{{Chosen: "x (1M context)"}, named("x", 50000, 0), {Chosen: "x"}, named("x", 50000, 0)}, 200000, true, 0.25, limits.Gentle},
		{"absurd beside a stated one", []*transcript.Record{named("x", 129200, 258400), named("x", 900000, 258400)}, 258400, false, 0.5, limits.Gentle},
		{"a little more than a stated one", []*transcript.Record{named("x", 271458, 258400)}, 258400, false, 271458.0 / 258400, limits.Maximum},
		{"proof stays after a boundary", []*transcript.Record{named("x", 250000, 0), {Boundary: &transcript.Boundary{}}, named("x", 10000, 0), named("y", 100000, 0)}, 1000000, false, 0.1, limits.Gentle},
		{"highest stays", []*transcript.Record{named("x", 195000, 0), named("x", 20000, 0)}, 200000, true, 0.1, limits.Maximum},
		{"a sub-agent says nothing", []*transcript.Record{named("x", 50000, 0), side}, 200000, true, 0.25, limits.Gentle},
		{"a boundary forgets what was held", []*transcript.Record{named("x", 150000, 0), {Boundary: &transcript.Boundary{}}}, 200000, true, 0, limits.Aggressive},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := New(o, transcript.Session{})
			for _, r := range c.records {
				f.Add(r)
			}
			s := f.Status()
			if s.Window != c.window || s.Assumed != c.assumed || s.Pressure != c.pressure || s.Level != c.level {
				t.Errorf("window %d assumed %v pressure %.3f level %v, want %d %v %.3f %v", s.Window, s.Assumed, s.Pressure, s.Level,
					c.window, c.assumed, c.pressure, c.level)
			}
		})
	}
	o.Level = limits.Aggressive
	if got := New(o, transcript.Session{}).Status().Level; got != limits.Aggressive {
		t.Errorf("level = %v, want the one given", got)
	}
}

func TestContextAfterABoundary(t *testing.T) {
	f := New(limits.Defaults(), transcript.Session{})
	for i := range 20 {
		r := chatter(300, 0)
		r.UUID = string(rune('a' + i))
		f.Add(r)
	}
	if got := f.Status().Context; got != 8000 {
		t.Fatalf("context = %d, want 8000", got)
	}
	f.Add(&transcript.Record{Boundary: &transcript.Boundary{Preserved: []string{"s", "t", "nowhere"}}})
	f.Add(chatter(150, 0))
	if got := f.Status().Context; got != 1000 {
		t.Errorf("context = %d, want 1000: two preserved records and a new one", got)
	}
	f.Add(&transcript.Record{Boundary: &transcript.Boundary{Preserved: []string{"t"}}})
	if got := f.Status().Context; got != 400 {
		t.Errorf("context = %d, want 400: preserved once more", got)
	}
	r := chatter(30, 0)
	r.Boundary = &transcript.Boundary{Replaced: true}
	f.Add(r)
	if got := f.Status().Context; got != 40 {
		t.Errorf("context = %d, want 40: the record carries the whole context", got)
	}
	side := chatter(3000, 0)
	side.Items[0].Side = true
	f.Add(side)
	if got := f.Status().Context; got != 40 {
		t.Errorf("context = %d, an inline sub-agent does not count", got)
	}
}
