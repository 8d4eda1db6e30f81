package install

import (
	"strings"
	"testing"

	"ccd/internal/testkit"
)

// FuzzTexts: any bytes are refused, or come back, in each piece.
func FuzzTexts(f *testing.F) {
	for _, text := range layouts {
		f.Add([]byte(text))
	}
	for _, text := range texts {
		f.Add([]byte(text))
	}
	yes := true
	s, err := New(Options{Line: &yes, Home: "/h", Getenv: func(string) string { return "" }, Executable: "/opt/a b/ccd", Allow: true})
	testkit.Must(f, err)
	var pieces []piece
	for _, id := range Agents() {
		for _, p := range s.pieces(s.agent(id)) {
			if !p.own {
				pieces = append(pieces, p)
			}
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if strings.Contains(strings.ToLower(string(text)), "ccd") || strings.Contains(string(text), `\u`) {
			t.Skip("the text names ccd already: TestOthersChanges has such texts")
		}
		for _, p := range pieces {
			now, err := p.put(file{path: "x", text: text})
			if err != nil {
				continue
			}
			if string(now) == string(text) {
				t.Fatalf("%s: %q: nothing was put in", p.name, text)
			}
			again, err := p.put(file{path: "x", text: now})
			if err != nil || string(again) != string(now) {
				t.Fatalf("%s: %q: twice: %v\n%s\n%s", p.name, text, err, now, again)
			}
			back, err := file{path: "x", text: now, backup: append([]byte{}, text...)}.without([]piece{p})
			if err != nil || p.name != "allow" && string(back) != string(text) { // rules are known by the hooks
				t.Fatalf("%s: %q came back as %q: %v", p.name, text, back, err)
			}
		}
	})
}
