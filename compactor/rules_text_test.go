package compactor

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestRulesWithoutText: a row has no text; its shape, its length and its key decide.
func TestRulesWithoutText(t *testing.T) {
	var with, without []talk
	for _, text := range []string{orchard("gate"), orchard("mill"), "short", orchard("gate"), orchard("gate") + "\n```\nx\n```", `{"a": [` + strings.Repeat("1, ", 60) + `1]}`} {
		m := message("assistant", text)
		m.shape, m.chars, m.key = shapeOfText(text), runes(text), hashOf(text)
		with = append(with, m)
		m.text = ""
		without = append(without, m)
	}
	o := Defaults()
	for i, d := range decide(with, &o) {
		if e := decide(without, &o)[i]; e != d {
			t.Errorf("item %d: %v with its text, %v without", i, d, e)
		}
	}
}

// TestNearCopiesPointAtOneThatStands: what is replaced itself is no reference for others.
func TestNearCopiesPointAtOneThatStands(t *testing.T) {
	o := Defaults()
	o.NearDedup = true
	all := []talk{message("t", listing(40, 0)), message("t", listing(40, 1)), message("t", listing(40, 2))}
	ds := decide(all, &o)
	for i, d := range ds {
		if d.action == nearDuped && ds[d.of].action == nearDuped {
			t.Errorf("item %d points at %d, which points on", i, d.of)
		}
	}
	if ds[0].of != 2 || ds[1].of != 2 || math.Abs(ds[1].like-39.0/41) > 1e-9 {
		t.Errorf("decisions %v", ds)
	}
}

func TestNearSignaturesEstimate(t *testing.T) {
	a, b, c := nearSignatureOf(listing(200, 0)), nearSignatureOf(listing(200, 2)), nearSignatureOf(listing(200, 150))
	if a.like(&b) < 0.7 || a.like(&c) > 0.6 || !a.mayBeNear(&b) {
		t.Errorf("estimates %v and %v", a.like(&b), a.like(&c))
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
		s := shapeOfText(text)
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
		if got := shapeOfText(text).signal(); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
