package filter

import (
	"slices"
	"strings"
	"testing"
)

func TestTermsOfAText(t *testing.T) {
	for text, want := range map[string][]string{
		"call parseRate or Money.parse() in a loop":           {"parseRate", "Money.parse"},
		"set `a b` and `x`, then MAX_SIZE":                    {"MAX_SIZE"},
		"see https://example.org/a?b=1 (or http://x.y/z).":    {"https://example.org/a?b=1", "http://x.y/z"},
		"commit 8f31c2e, v1.2 and 1.2.3-rc.1":                 {"8f31c2e", "v1.2", "1.2.3-rc.1"},
		"took 317 ms, 48,213 cents, 91% and 3.5GB of 12":      {"317 ms", "48,213 cents", "91%", "3.5GB"},
		"(146/200 lines)":                                     {"146/200 lines"},
		"in src/a/b.go:12 and config.yaml; use --dry-run":     {"src/a/b.go:12", "config.yaml", "--dry-run"},
		"Nothing here is a name. It ends. And so on":          nil,
		"10 of the 12 were fine, 5 to go":                     nil,
		"```\nfooBar = baz_qux\nhttps://example.org/in\n```":  {"fooBar", "baz_qux", "https://example.org/in"},
		"設定はsettings/base.pyの「USE_L10N」です。一覧はCelery 5.3.6に":   {"settings/base.py", "USE_L10N", "5.3.6"},
		"the set_value of 5f0c1d2e-90c4-4a1b-8a53-0c1d2e3f4a": {"set_value", "5f0c1d2e-90c4-4a1b-8a53-0c1d2e3f4a"},
	} {
		var got []string
		Terms(text, func(term string) bool {
			got = append(got, term)
			return true
		})
		if !slices.Equal(got, want) {
			t.Errorf("Terms(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestTermsStop(t *testing.T) {
	n := 0
	Terms(strings.Repeat("fooBar ", 10), func(string) bool { n++; return n < 3 })
	if n != 3 {
		t.Errorf("%d terms came after the third was refused", n)
	}
}

// Lines without a blank, ticks without an end and signs alone must not make the scan look at anything twice.
func TestTermsAreLinear(t *testing.T) {
	for name, piece := range map[string]string{
		"one word": "aB", "ticks": "`", "tick and word": "`a", "signs": "-/", "schemes": "ab://", "digits": "1,", "figures": "1 a ", "runes": "ü", "ab-ab": "ab-",
	} {
		n := 0
		Terms(strings.Repeat(piece, 1<<20/len(piece)), func(term string) bool {
			n += len(term)
			return true
		})
		if n > 1<<20 {
			t.Errorf("%s: the terms of 1 MB have %d bytes", name, n)
		}
	}
}
