package install

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ccd/internal/testkit"
)

// settingsOf invents settings: values of any kind, in any layout, with hooks, rules and servers of others now and then.
type settingsOf struct {
	*rand.Rand
	unit, eol, colon, comma string
}

func invent(r *rand.Rand) string {
	pick := func(all ...string) string { return all[r.IntN(len(all))] }
	s := settingsOf{r, pick("", " ", "  ", "    ", "\t"), pick("\n", "\n", "\r\n", ""), pick(":", ": ", " : "), pick(",", ", ")}
	return pick("", "", "\ufeff") + pick("", "", " ", "\n") + s.settings() + pick("", "\n", "\n\n", " ")
}

func (s settingsOf) settings() string {
	hooks := func() string {
		hook := func() string { return s.object(s.IntN(3), 4) }
		group := func() string { return s.wrap("{", "}", 3, `"hooks"`+s.colon+s.wrap("[", "]", 4, s.some(hook)...)) }
		event := func(name string) string { return name + s.colon + s.wrap("[", "]", 2, s.some(group)...) }
		var events []string
		for _, e := range []string{`"SessionStart"`, `"Stop"`, `"PreCompact"`, `"PostToolUse"`} {
			if s.IntN(2) == 0 {
				events = append(events, event(e))
			}
		}
		return s.wrap("{", "}", 1, events...)
	}
	rules := func() string {
		return s.wrap("{", "}", 1, `"allow"`+s.colon+s.wrap("[", "]", 2, s.some(func() string { return s.value(3) })...))
	}
	members := []string{s.member(1), s.member(1)}[:s.IntN(3)]
	for key, make := range map[string]func() string{
		`"hooks"`: hooks, `"permissions"`: rules, `"mcpServers"`: func() string { return s.object(s.IntN(3), 1) },
	} {
		if s.IntN(2) == 0 {
			members = append(members, key+s.colon+make())
		}
	}
	s.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	return s.wrap("{", "}", 0, members...)
}

func (s settingsOf) some(one func() string) (all []string) {
	for range s.IntN(4) {
		all = append(all, one())
	}
	return all
}

// wrap lays items out, on lines of their own or not.
func (s settingsOf) wrap(begin, end string, depth int, items ...string) string {
	if len(items) == 0 {
		return begin + []string{"", " ", s.eol}[s.IntN(3)] + end
	}
	if s.eol == "" || depth > 1 && s.IntN(4) == 0 {
		return begin + strings.Join(items, s.comma) + end
	}
	lead := s.eol + strings.Repeat(s.unit, depth+1)
	return begin + lead + strings.Join(items, ","+lead) + s.eol + strings.Repeat(s.unit, depth) + end
}

func (s settingsOf) member(depth int) string {
	return fmt.Sprintf(`"k%d"`, s.IntN(1000000)) + s.colon + s.value(depth)
}

func (s settingsOf) object(n, depth int) string {
	var members []string
	for range n {
		members = append(members, s.member(depth+1))
	}
	return s.wrap("{", "}", depth, members...)
}

func (s settingsOf) value(depth int) string {
	switch s.IntN(7) {
	case 0:
		return s.object(s.IntN(3), depth)
	case 1:
		return s.wrap("[", "]", depth, s.some(func() string { return s.value(depth + 1) })...)
	default:
		return []string{`"a\u00e9\/"`, "1.50", "1E3", "true", "null", `""`}[s.IntN(6)]
	}
}

func decoded(t *testing.T, text string) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(strings.TrimPrefix(text, "\ufeff")), &v); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return v
}

// TestAnySettings holds the laws over invented settings: what others wrote is all there after install, in its order;
// twice is once; another binary in place of the first is as if it had been the first; after uninstall every byte is as it
// was.
func TestAnySettings(t *testing.T) {
	naive := 0
	seeds := testkit.Cases(t, 8, 40)
	for seed := range uint64(seeds) {
		text := invent(rand.New(rand.NewPCG(seed, 1)))
		h := newHome(t)
		h.write(".claude/settings.json", text)
		h.write(".claude.json", text)
		before := h.tree()
		h.install(everything, Claude)
		now := h.read(".claude/settings.json")
		if p, err := h.setup(everything).Plan(true, Claude); err != nil || !p.Empty() {
			t.Fatalf("seed %d: a second install: %v\n%s", seed, err, p.Diff())
		}
		theirs(t, decoded(t, text), decoded(t, now))
		h.install(moved(h), Claude)
		if diff := cmp.Diff(decoded(t, strings.ReplaceAll(strings.ReplaceAll(now, h.path("bin/ccd"), "'"+h.path("new place/ccd")+"'"), "''", "'")), decoded(t, h.read(".claude/settings.json"))); diff != "" {
			t.Fatalf("seed %d: the other binary (-want +got)\n%s", seed, diff)
		}
		h.uninstall(Claude)
		h.same(before)
		if t.Failed() {
			t.Fatalf("seed %d: %q", seed, text)
		}
		again, _ := json.MarshalIndent(decoded(t, text), "", "  ")
		if string(again) != text {
			naive++
		}
	}
	if naive < seeds/2 { // control: reading and writing it anew would not do
		t.Errorf("only %d texts would be changed by writing them anew", naive)
	}
}

// theirs fails where something of before is not in now, at its place.
func theirs(t *testing.T, before, now any) {
	t.Helper()
	switch b := before.(type) {
	case map[string]any:
		n, _ := now.(map[string]any)
		for k, v := range b {
			theirs(t, v, n[k])
		}
	case []any:
		n, _ := now.([]any)
		for i, v := range b {
			if i >= len(n) {
				t.Fatalf("%v is gone", v)
			}
			theirs(t, v, n[i])
		}
	default:
		if before != now {
			t.Errorf("%v became %v", before, now)
		}
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
	s, err := New(Options{Line: &yes, Home: "/h", Getenv: func(string) string { return "" }, Executable: "/opt/a b/ccd", Allow: true})
	if err != nil {
		f.Fatal(err)
	}
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
			t.Skip("it holds what is ours already: another law")
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
