package sidecar

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
	full.Secrets = []compactor.Secrets{{Kind: "aws-key", N: 1}, {Kind: "github-pat", N: 2}}
	full.Manual = compactor.Manual{Focus: []string{"2026", "a,b", "cents", "no", "é\"\\]", "x.py"}, MaxTokens: 14000}
	posing := matter()
	posing.Model = "[ccd abcdefgh1234 x] \u202e\u200b[\\ccd]"
	for name, f := range map[string]Front{"full": full, "bare": matter(), "posing": posing} {
		doc := Render(f, sections())
		if text := string(Render(f, nil).Text); strings.Contains(text, "[ccd abcdefgh1234") || strings.ContainsAny(text, "\u202e\u200b") {
			t.Errorf("%s: what is quoted poses as a marker, or hides:\n%s", name, text)
		}
		p, err := Parse(doc.Text)
		testkit.Must(t, err)
		got, err := p.Front()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		want := Matter{
			CCD: Version, Rules: compactor.Rules, Options: f.Options, Agent: f.Agent, Session: mark.Name(f.Session), Parent: mark.Name(f.Parent), Source: mark.Name(f.Source),
			Covers: Covers{f.Records, f.Bytes, f.Sum.String()}, Model: f.Model, Window: f.Window, Assumed: f.Assumed, Pressure: f.Pressure, Level: f.Level.String(),
			Redacted: map[string]int{}, Verified: f.Verified, Reason: f.Reason,
		}
		if !f.Manual.IsZero() {
			want.Manual = &f.Manual
		}
		for _, s := range f.Secrets {
			want.Redacted[s.Kind] = s.N
		}
		want.Tokens.Original, want.Tokens.Companion, want.Tokens.Saved, want.Tokens.About, want.Tokens.Reported = f.Tokens.Original, doc.Tokens, got.Tokens.Saved, doc.About, f.Tokens.Reported
		want.Tokens.Estimator = "chars*4/3"
		want.Knowledge.Visible, want.Knowledge.Recoverable, want.Knowledge.Lost = f.KeyInformation.Visible, f.KeyInformation.Recoverable, f.KeyInformation.Lost
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
		testkit.Must(t, err)
		if _, err := p.Front(); err == nil {
			t.Errorf("%s: no error", to)
		}
	}
}
