package limits

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
	for _, name := range []string{"", "Gentle", "level-5"} {
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
		{MaxTokens: o.MaxTokens}, {MaxTokens: 14000}, {Ratio: .3}, {Focus: []string{"a"}}, {Focus: []string{"a"}, MaxTokens: 14000},
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
	if got := (Manual{MaxTokens: 9}).Over(Manual{Ratio: .3}); got.Ratio != 0 || o.With(Manual{Ratio: .3}).Part(300000).MaxTokens != 120000 {
		t.Errorf("a number and a share: %+v", got)
	}
	first := Manual{Focus: []string{"a"}, MaxTokens: 5}
	if got, want := (Manual{MaxTokens: 9}).Over(first), (Manual{Focus: []string{"a"}, MaxTokens: 9}); !cmp.Equal(got, want) {
		t.Errorf("Over: %+v", got)
	}
	if got := o.With(first); got.MaxTokens != 5 || !cmp.Equal(got.Focus, first.Focus) || !cmp.Equal(got.Manual, first) {
		t.Errorf("With: %+v", got)
	}
}

func TestOptionsHash(t *testing.T) {
	a, b := Defaults(), Defaults()
	if a.Hash() != b.Hash() || len(a.Hash()) != 8 {
		t.Errorf("Hash = %q and %q", a.Hash(), b.Hash())
	}
	b.Windows = map[string]int64{"x": 1}
	c := Defaults()
	c.Pressure = 0.31
	if a.Hash() == b.Hash() || a.Hash() == c.Hash() {
		t.Error("other options, the same hash")
	}
}

func TestLevels(t *testing.T) {
	for l, want := range map[Level]int{0: 30, Gentle: 30, Standard: 20, Aggressive: 10, Maximum: 5} {
		if got := l.Percent(); got != want {
			t.Errorf("%s leaves %d %%, want %d", l, got, want)
		}
	}
}

func TestDerived(t *testing.T) {
	if Tokens(10) != 13 || Tokens(int64(3)) != 4 || Tokens(0) != 0 {
		t.Error("chars * 4 / 3 in integers")
	}
	o := Defaults()
	o.Host = "forge"
	if got := o.Budget("5d2f7a1e"); got != 54000-320-5-8 {
		t.Errorf("the budget is %d chars", got)
	}
	o.MaxPart = .1
	if got := o.Part(300000).MaxTokens; got != 40000 {
		t.Errorf("a tenth of 300,000 chars is %d tokens", got)
	}
	if got := o.Part(300).MaxTokens; got != leastTokens {
		t.Errorf("a tenth of 300 chars is %d tokens", got)
	}
	if got := o.With(Manual{MaxTokens: 5000}).Part(300000).MaxTokens; got != 5000 {
		t.Errorf("5,000 tokens by hand are %d", got)
	}
	o.MaxPart = 0
	if got := o.Part(300000).MaxTokens; got != o.MaxTokens {
		t.Errorf("without a part there are %d tokens", got)
	}
	o.MaxTokens = 100
	if got := o.Budget(""); got != 0 {
		t.Errorf("a budget smaller than the lead is %d chars", got)
	}
}

func TestSummaryChars(t *testing.T) {
	for chars, want := range map[int]int{0: 200, 600: 200, 667: 200, 670: 201, 1000: 300, 1005: 302, 2000: 600, 5000: 600, 100000: 600} {
		if got := SummaryChars(chars, 600, "off"); got != want {
			t.Errorf("a text of %d chars: %d, want %d", chars, got, want)
		}
	}
	for chars, want := range map[int]int{5000: 600, 9999: 600, 10000: 900, 20000: 1200, 40000: 1500} {
		if got := SummaryChars(chars, 600, "log"); got != want {
			t.Errorf("with long_cap, a text of %d chars: %d, want %d", chars, got, want)
		}
	}
}
