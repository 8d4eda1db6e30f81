package install

import (
	"slices"
	"strings"
	"testing"

	"ccd/internal/testkit"
)

// texts are what people write into AGENTS.md.
var texts = []string{"", "\n", "\n\n", "a = 1", "a = 1\n", "a = 1\n\n", "a = 1\r\n", "a = 1\r\n\r\n", "a = 1\r\nb = 2", "a = 1\n\n\n[t]\nb = \"\"\"\n[mcp_servers.ccd]\n\"\"\"", "\ufeffa = 1\n"}

// What keeps an agent from using what is installed is told.
func TestNotes(t *testing.T) {
	h := newHome(t)
	notes := func() (all []string) {
		for _, agent := range Agents() {
			p, err := h.setup(nil).Plan(true, agent)
			testkit.Must(t, err)
			s := h.setup(nil).Status(agent)
			if strings.Join(p.Notes, "") != strings.Join(s.Notes[len(s.Notes)-len(p.Notes):], "") {
				t.Errorf("install says %q, status %q", p.Notes, s.Notes)
			}
			all = append(all, slices.DeleteFunc(p.Notes, func(n string) bool { return strings.Contains(n, "trust") })...)
		}
		return all
	}
	h.write(".claude/settings.json", `{"disableAllHooks": false}`)
	h.write(".codex/config.toml", "[features]\nhooks = true\n")
	if got := notes(); len(got) != 0 {
		t.Errorf("notes: %q", got)
	}
	h.write(".claude/settings.json", `{"disableAllHooks": true}`)
	h.write(".codex/config.toml", "[features]\nhooks = false\n")
	h.write(".codex/AGENTS.override.md", "")
	if got := notes(); len(got) != 3 {
		t.Errorf("notes: %q", got)
	}
}

func TestConfigurationIsPassedOn(t *testing.T) {
	h := newHome(t)
	with := func(o *Options) { o.Config = "/etc/my ccd.toml" }
	h.install(nil, Agents()...)
	h.install(with, Agents()...)
	for _, agent := range Agents() {
		if s := h.setup(with).Status(agent); !s.Installed {
			t.Errorf("%+v", s)
		}
		if s := h.setup(nil).Status(agent); s.Installed && len(s.Binaries) > 0 {
			t.Error("without it, it is another")
		}
	}
	if text := h.read(".codex/hooks.json"); !strings.Contains(text, "--agent codex --config '/etc/my ccd.toml'") {
		t.Error(text)
	}
}

// FuzzTexts: any bytes are refused, or come back, in each piece.
func FuzzTexts(f *testing.F) {
	for _, text := range layouts {
		f.Add([]byte(text))
	}
	for _, text := range texts {
		f.Add([]byte(text))
	}
	yes := true
	s, err := New(Options{Line: &yes, Home: "/h", Getenv: func(string) string { return "" }, Executable: "/opt/a b/ccd"})
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
			if err != nil || string(back) != string(text) {
				t.Fatalf("%s: %q came back as %q: %v", p.name, text, back, err)
			}
		}
	})
}
