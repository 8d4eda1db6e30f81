package compactor

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFocusWords(t *testing.T) {
	long := strings.Repeat("é", maxFocusWord)
	many := strings.Repeat("w1 ", 40)
	for _, c := range []struct {
		in   string
		want []string
	}{
		{"Invoice, cents;invoice\tcents.py", []string{"cents", "cents.py", "invoice"}},
		{"  one  ", []string{"one"}},
		{"a\x00b\xffc", []string{"a", "b", "c"}},
		{long, []string{long}},
		{many, []string{"w1"}},
		{"", nil},
		{" ,;\n", nil},
		{long + "é", nil},
		{"a b c d e f g h i j k l m n o p q r s t u v w x y z 0 1 2 3 4 5 6", nil},
	} {
		got, err := FocusWords(c.in)
		if diff := cmp.Diff(c.want, got); diff != "" || (err == nil) != (c.want != nil) {
			t.Errorf("FocusWords(%q): %v\n%s", c.in, err, diff)
		}
		if err == nil {
			if again, err := FocusWords(strings.Join(got, " ")); err != nil || !cmp.Equal(again, got) {
				t.Errorf("FocusWords(%q) is not stable: %q, %v", c.in, again, err)
			}
		}
	}
}

func TestParseLevel(t *testing.T) {
	for _, l := range []Level{Gentle, Standard, Aggressive, Maximum} {
		if got, err := ParseLevel(l.String()); err != nil || got != l {
			t.Errorf("ParseLevel(%s) = %v, %v", l, got, err)
		}
	}
	for _, name := range []string{"", "by-pressure", "Gentle", "level-5"} {
		if got, err := ParseLevel(name); err == nil {
			t.Errorf("ParseLevel(%q) = %v", name, got)
		}
	}
}

// What is asked for by hand changes the hash, also where it is what holds anyway: it stands in the front matter.
func TestManualIsPartOfTheOptions(t *testing.T) {
	o := Defaults()
	seen := map[string]Manual{o.Hash(): {}}
	for _, m := range []Manual{
		{MaxTokens: o.MaxTokens}, {MaxTokens: 14000}, {Level: Maximum}, {Focus: []string{"a"}}, {Focus: []string{"a"}, Level: Maximum},
	} {
		h := o.With(m).Hash()
		if other, ok := seen[h]; ok {
			t.Errorf("%+v and %+v have one hash", m, other)
		}
		seen[h] = m
	}
	if got := o.With(Manual{}).Hash(); got != o.Hash() {
		t.Error("asking for nothing changes the hash")
	}
	first := Manual{Focus: []string{"a"}, MaxTokens: 5}
	if got, want := (Manual{Level: Gentle}).Over(first), (Manual{Focus: []string{"a"}, Level: Gentle, MaxTokens: 5}); !cmp.Equal(got, want) {
		t.Errorf("Over: %+v", got)
	}
	if got := o.With(first); got.MaxTokens != 5 || got.Level != ByPressure || !cmp.Equal(got.Focus, first.Focus) || !cmp.Equal(got.Manual, first) {
		t.Errorf("With: %+v", got)
	}
}

func TestFallbacksAreCounted(t *testing.T) {
	var f fallbacks
	if got := f.all(); got != nil {
		t.Errorf("none is %v", got)
	}
	f.add(FallbackFit, 2)
	f.add(FallbackVerify, 1)
	f.add(FallbackFit, 3)
	f.add(FallbackSize, 0)
	if diff := cmp.Diff([]Fallback{{FallbackVerify, 1}, {FallbackFit, 5}}, f.all()); diff != "" {
		t.Error(diff)
	}
}
