package prose

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
)

// TestRulesWithoutText: a row has no text; its shape, its length and its key decide.
func TestRulesWithoutText(t *testing.T) {
	var with, without []Text
	for _, text := range []string{orchard("gate"), orchard("mill"), "short", orchard("gate"), orchard("gate") + "\n```\nx\n```", `{"a": [` + strings.Repeat("1, ", 60) + `1]}`} {
		m := message("assistant", text)
		m.Shape, m.Chars, m.Key = ShapeOf(text), lexicon.Chars(text), mark.Sum([]byte(text)).Key()
		with = append(with, m)
		m.Text = ""
		without = append(without, m)
	}
	o := shipped()
	for i, d := range Decide(with, o) {
		if e := Decide(without, o)[i]; e != d {
			t.Errorf("item %d: %v with its text, %v without", i, d, e)
		}
	}
}

// TestNearCopiesPointAtOneThatStands: what is replaced itself is no reference for others.
func TestNearCopiesPointAtOneThatStands(t *testing.T) {
	o := shipped()
	o.NearDedup = true
	all := []Text{message("t", listing(40, 0)), message("t", listing(40, 1)), message("t", listing(40, 2))}
	ds := Decide(all, o)
	for i, d := range ds {
		if d.Action == NearDuped && ds[d.Of].Action == NearDuped {
			t.Errorf("item %d points at %d, which points on", i, d.Of)
		}
	}
	if ds[0].Of != 2 || ds[1].Of != 2 || math.Abs(ds[1].Like-39.0/41) > 1e-9 {
		t.Errorf("decisions %v", ds)
	}
}

// TestNearCopiesOfNearCopiesAreOneGroup: the oldest is too far from the newest to be a near copy of it, but for the one
// between them.
func TestNearCopiesOfNearCopiesAreOneGroup(t *testing.T) {
	o := shipped()
	o.NearDedup = true
	a, b, c := message("t", listing(40, 0)), message("t", listing(40, 3)), message("t", listing(40, 6))
	if d := Decide([]Text{a, c}, o)[0]; d.Action == NearDuped {
		t.Fatalf("the oldest and the newest are near: %v", d)
	}
	if d := Decide([]Text{b, c}, o)[0]; d.Action == NearDuped {
		t.Logf("changed lines only")
	}
	ds := Decide([]Text{a, b, c}, o)
	if ds[0].Action != NearDuped || ds[0].Of != 2 || ds[1].Action != NearDuped || ds[1].Of != 2 {
		t.Errorf("decisions %+v", ds)
	}
}

func TestSoftReasons(t *testing.T) {
	for text, want := range map[string]reasons{
		"see https://example.org/mill":                 hasWeb,
		"mail dock@example.org":                        hasMail,
		"call +49-30-1234567 now":                      hasPhone,
		"since v1.2.3 of it":                           hasVersion,
		"came with 3f786850e3 today":                   hasDigest,
		"in /srv/mill/plan now":                        hasPath,
		"at 10.0.0.12 now":                             hasNet,
		`the "name": of it`:                            hasQuotedKey,
		"the licensee hereby agrees":                   hasLegal,
		`he said "leave it there" twice`:               hasQuote,
		"it is 30 m long":                              hasUnits,
		"it took 12ms":                                 hasUnits,
		"it was 80% full":                              hasUnits,
		"he and/or she went there, as was said before": 0,
	} {
		s := ShapeOf(text)
		if s.soft()&want != want || want == 0 && s.soft() != 0 || s.hard() != 0 {
			t.Errorf("%q: soft %q, hard %q, want %q", text, s.soft(), s.hard(), want)
		}
	}
}

// listing is n lines of output, of which the last ones are changed.
func listing(n, change int) string {
	var b strings.Builder
	for i := range n {
		if i >= n-change {
			fmt.Fprintf(&b, "changed line %d of it\n", i)
			continue
		}
		fmt.Fprintf(&b, "line %d of the listing\n", i)
	}
	return b.String()
}

// TestNotBut: the words between may be any, of the same sentence.
func TestNotBut(t *testing.T) {
	for text, want := range map[string]signal{
		"It is not the gate but the door.":                    notBut,
		"It is not the gate. But the door is.":                noSignal,
		"It is not here, as far as I can tell, but elsewhere": notBut,
		"Nothing but the door":                                noSignal,
	} {
		if got := ShapeOf(text).signal(); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
