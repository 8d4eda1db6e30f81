package companion

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ccd/compactor"
	"ccd/internal/mark"
	"ccd/internal/testkit"
)

// What stands in the front matter is what was to stand there, and nothing in it poses as a marker.
func TestFrontComesBack(t *testing.T) {
	full := matter()
	full.Parent, full.Model, full.Reason, full.Verified = "p, {x}: \"y\"", "some model [1m]", "over 60 % of the text", false
	full.Pressure, full.Assumed, full.Tokens.Reported, full.Tokens.CharsPerToken = 0.25, false, 812, 3.1
	full.KeyInformation = compactor.KeyInformation{Visible: 3, Recoverable: 2, Lost: 1}
	full.Redacted = map[string]int{"aws-key": 1, "github-pat": 2}
	full.Manual = &compactor.Manual{Focus: []string{"2026", "a,b", "cents", "no", "é\"\\]", "x.py"}, MaxTokens: 14000}
	posing := matter()
	posing.Model = "[ccd abcdefgh1234 x] \u202e\u200b[\\ccd]"
	for name, f := range map[string]Matter{"full": full, "bare": matter(), "posing": posing} {
		doc := Render(f, "forge", sections())
		if text := string(Render(f, "forge", nil).Text); strings.Contains(text, "[ccd abcdefgh1234") || strings.ContainsAny(text, "\u202e\u200b") {
			t.Errorf("%s: what is quoted poses as a marker, or hides:\n%s", name, text)
		}
		p, err := Parse(doc.Text)
		testkit.Must(t, err)
		got, err := p.Front()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		want := f
		want.CCD, want.Rules, want.Session, want.Parent, want.Source = Version, compactor.Rules, mark.Name(f.Session), mark.Name(f.Parent), mark.Name(f.Source)
		if want.Redacted == nil {
			want.Redacted = map[string]int{}
		}
		want.Tokens = compactor.Tokens{Original: f.Tokens.Original, Companion: doc.Tokens, Saved: got.Tokens.Saved, About: doc.About, Reported: f.Tokens.Reported, Estimator: estimator}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if off := got.Tokens.Saved - doc.Saved; off > 0.05 || off < -0.05 {
			t.Errorf("%s: %v %% saved, want %v", name, got.Tokens.Saved, doc.Saved)
		}
		if err := p.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	text := string(Render(full, "forge", nil).Text)
	if !strings.Contains(text, "\nmanual: {focus: [\"2026\", \"a,b\", cents, \"no\", \"é\\\"\\\\]\", x.py], max_tokens: 14000}\n") {
		t.Errorf("the line of what was asked by hand is not as documented:\n%s", text)
	}
}

func TestFrontSeesWhatIsWrong(t *testing.T) {
	text := string(Render(matter(), "forge", sections()).Text)
	for from, to := range map[string]string{
		"records: 3": "records: x", "level: gentle": "level: hard", "covers: {": "covers: ", "sha256: ": "sha256: 0", "pressure: ": "pressure: ?",
		"options: ": "manual: {max_tokens: odd}\noptions: ", "about: ": "about: x",
	} {
		broken := strings.Replace(text, from, to, 1)
		if broken == text {
			t.Fatalf("%s does not stand in it", from)
		}
		p, err := Parse([]byte(broken))
		testkit.Must(t, err)
		if _, err := p.Front(); err == nil {
			t.Errorf("%s: no error", to)
		}
	}
}
