package sidecar

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ccd/compactor"
	"ccd/internal/mark"
)

// What stands in the front matter is what was to stand there.
func TestFrontComesBack(t *testing.T) {
	full := matter()
	full.Host, full.Parent, full.Model, full.Reason, full.Verified = "", "p, {x}: \"y\"", "some model [1m]", "over 60 % of the text", false
	full.Pressure, full.Assumed, full.Tokens.Reported = 0.25, false, 812
	full.KeyInformation = compactor.KeyInformation{Visible: 3, Recoverable: 2, Lost: 1}
	full.Tokens.CharsPerToken = 3.1
	full.Manual = compactor.Manual{Focus: []string{"2026", "a,b", "cents", "no", "é\"\\]", "x.py"}, MaxTokens: 14000}
	bare := matter()
	bare.Host = ""
	posing := bare
	posing.Model = "[ccd abcdefgh1234 x] \u202e\u200b[\\ccd]"
	for name, want := range map[string]Front{"full": full, "bare": bare, "posing": posing} {
		doc := Render(want, sections())
		if text := string(Render(want, nil).Text); strings.Contains(text, "[ccd abcdefgh1234") || strings.ContainsAny(text, "\u202e\u200b") {
			t.Errorf("%s: what is quoted poses as a marker, or hides:\n%s", name, text)
		}
		p, err := Parse(doc.Text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.Front()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		want.Tokens.Companion, want.Tokens.SavedPercent, want.About = doc.Tokens, got.Tokens.SavedPercent, doc.About
		want.Tokens.CharsPerToken = 0 // it does not stand there
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if off := got.Tokens.SavedPercent - doc.Saved; off > 0.05 || off < -0.05 {
			t.Errorf("%s: %v %% saved, want %v", name, got.Tokens.SavedPercent, doc.Saved)
		}
		if err := p.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	text := string(Render(full, nil).Text)
	if !strings.Contains(text, "\nmanual: {focus: [\"2026\", \"a,b\", cents, \"no\", \"é\\\"\\\\]\", x.py], max_tokens: 14000}\n") {
		t.Errorf("the line of what was asked by hand is not as documented:\n%s", text)
	}
}

func TestFrontSeesWhatIsWrong(t *testing.T) {
	text := string(Render(matter(), sections()).Text)
	for from, to := range map[string]string{
		"records: 3": "records: x", "level: gentle": "level: hard", "covers: {": "covers: ", "sha256: ": "sha256: 0", "pressure: ": "pressure: ?",
		"options: ": "manual: {max_tokens: odd}\noptions: ", "about: ": "about: x",
	} {
		broken := strings.Replace(text, from, to, 1)
		if broken == text {
			t.Fatalf("%s does not stand in it", from)
		}
		p, err := Parse([]byte(broken))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Front(); err == nil {
			t.Errorf("%s: no error", to)
		}
	}
	if h, err := mark.ParseHash(mark.Sum(nil).String()); err != nil || h != mark.Sum(nil) {
		t.Errorf("ParseHash: %v, %v", h, err)
	}
}

// A companion that an older ccd wrote tells neither what is missing nor its size in real tokens.
func TestFrontOfAnOlderCompanion(t *testing.T) {
	f := matter()
	text := string(Render(f, sections()).Text)
	_, rest, _ := strings.Cut(text, ", about: ")
	about, _, _ := strings.Cut(rest, ",")
	p, err := Parse([]byte(strings.Replace(text, ", about: "+about, "", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := p.Front(); err != nil || got.About != 0 {
		t.Errorf("about %d, %v", got.About, err)
	}
}
