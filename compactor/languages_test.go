package compactor_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"ccd/internal/testkit"
)

// A tongue is one story in one language: testdata/languages has the same parts under the same keys for each. Of a turn N,
// aN is what the human asks, dNa and dNb what the agent decides between its calls, and rN its answer; q is a question with
// its options o1 and o2, p a plan, and x1 and x2 are the reasons of refusals.
type tongue struct {
	name  string
	parts map[string][]string
	space string // between sentences
}

const turns = 12

// corrections are the turns whose first sentence corrects what the agent did: the agent then takes its last edit back.
var corrections = map[int]bool{4: true, 7: true, 10: true}

func tongueOf(t *testing.T, name string) *tongue {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "languages", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	to := &tongue{name: name, parts: map[string][]string{}, space: " "}
	if name == "zh" || name == "ja" {
		to.space = ""
	}
	for line := range strings.Lines(string(data)) {
		if key, text, ok := strings.Cut(strings.TrimSpace(line), " = "); ok {
			to.parts[key] = strings.Split(text, " | ")
		}
	}
	return to
}

// of is the key of a part of a turn.
func of(key string, n int) string { return strings.ReplaceAll(key, "N", strconv.Itoa(n)) }

// text is what stands under a key: its sentences one after another, items of lists on lines of their own.
func (to *tongue) text(key string) string {
	var b strings.Builder
	listed := false
	for i, part := range to.parts[key] {
		item := strings.HasPrefix(part, "- ")
		switch {
		case i == 0:
		case item && listed:
			b.WriteString("\n")
		case item || listed:
			b.WriteString("\n\n")
		default:
			b.WriteString(to.space)
		}
		b.WriteString(part)
		listed = item
	}
	return b.String()
}

// session tells the story in about 200 records. All but the talk is the same in every language.
func (to *tongue) session() *session {
	s := newStory("claude-code", 5)
	for n := 1; n <= turns; n++ {
		s.human(to.text(of("aN", n)))
		switch n {
		case 3:
			s.ask(to.text("q"), to.text("o1"), to.text("o1"), to.text("o2"))
		case 5:
			s.refuse("ExitPlanMode", obj{"plan": "# " + to.text("p")}, to.text("x1"))
		case 8:
			s.refuse("Bash", obj{"command": "git push --force test"}, to.text("x2"))
		}
		s.say(to.text(of("dNa", n)))
		if corrections[n] {
			s.undo()
		} else {
			s.read(fmt.Sprintf("stock/part%d.py", n), s.code(30))
		}
		s.chores(n, 1)
		s.say(to.text(of("dNb", n)))
		s.read(fmt.Sprintf("stock/other%d.py", n), s.code(40))
		s.chores(n, 2)
		s.say(to.text(of("rN", n)))
	}
	return newSession(to.name, "claude-code", s.buf.Bytes(), nil)
}

// chores are two calls with results: an edit, and a command that fails in the first half of some turns.
func (s *story) chores(n, half int) {
	test := fmt.Sprintf("pytest -q tests/test_part%d.py", n)
	if half == 1 && n%3 == 1 {
		s.bash(test, fmt.Sprintf("E   AssertionError: Copies(%d) != Copies(%d)\n1 failed, %d passed in 2.1s", s.r.IntN(999), s.r.IntN(999), n), 1)
	} else {
		s.bash(test, fmt.Sprintf("%s\n%d passed in 1.2s", strings.Repeat(".", 60), n+30), 0)
	}
	if half == 2 && n%4 == 0 {
		s.bash(fmt.Sprintf("git commit -qam 'part %d' && git log -1 --oneline", n), fmt.Sprintf("%07x part %d", s.r.Uint32()>>4, n), 0)
	}
	s.change()
}

// kinds gives the parts of the story by what they are.
func (to *tongue) kinds() map[string][]string {
	all := map[string][]string{}
	add := func(kind, key string) {
		for _, part := range to.parts[key] {
			all[kind] = append(all[kind], flat(strings.TrimPrefix(part, "- ")))
		}
	}
	for n := 1; n <= turns; n++ {
		add("asks", of("aN", n))
		add("decisions", of("dNa", n))
		add("decisions", of("dNb", n))
		add("answers", of("rN", n))
		if corrections[n] {
			all["rules"] = append(all["rules"], flat(to.parts[of("aN", n)][0]))
		}
	}
	for kind, keys := range map[string][]string{"questions": {"q", "o1"}, "refusals": {"x1", "x2"}, "rules": {"x1", "x2"}} {
		for _, key := range keys {
			add(kind, key)
		}
	}
	return all
}

// seen is how often each part of each kind stands in a text; rules count in their section alone.
func (to *tongue) seen(text string) map[string][]int {
	page, rules := flat(plainText(text)), ""
	for _, b := range blocks(text) {
		if b.section == "Rules" {
			rules += flat(b.text) + " "
		}
	}
	all := map[string][]int{}
	for kind, parts := range to.kinds() {
		in := page
		if kind == "rules" {
			in = rules
		}
		for _, part := range parts {
			all[kind] = append(all[kind], strings.Count(in, part))
		}
	}
	return all
}

// equal is the room in which this language can say what English says in a text with as much around it: the same parts of
// the story take fewer chars in Chinese, and more in French.
func (to *tongue) equal(en *tongue, text string) int {
	room := chars(text)
	ours, theirs := to.kinds(), en.kinds()
	for kind, counts := range en.seen(text) {
		if kind == "rules" || kind == "questions" {
			continue // they count as messages, or are a few words
		}
		for i, n := range counts {
			room += n * (chars(ours[kind][i]) - chars(theirs[kind][i]))
		}
	}
	return room
}

// apart is the most by which less may be visible of a kind than in English, 0..1. More may be: a dense script says more in
// as many chars.
const apart = 0.05

// uneven complains about kinds of which less is visible than in English.
func uneven(en, other map[string][]int) (bad []string) {
	share := func(counts []int) (s float64) {
		for _, n := range counts {
			s += float64(min(n, 1)) / float64(len(counts))
		}
		return s
	}
	for kind := range en {
		if a, b := share(en[kind]), share(other[kind]); b < a-apart-1e-9 {
			bad = append(bad, fmt.Sprintf("%s: %.2f, English %.2f", kind, b, a))
		}
	}
	return bad
}

// TestLanguagesAreEqual has a companion show as much of a story in one language as in another.
func TestLanguagesAreEqual(t *testing.T) {
	en := tongueOf(t, "en")
	story := en.session()
	if n := strings.Count(string(story.data), "\n"); n < 180 || n > 220 {
		t.Errorf("%d records, want about 200", n)
	}
	for _, room := range testkit.Sample(t, []int{6000, 12000, defaultChars}, 2) {
		text := rendered(story.companion(t, room))
		want := en.seen(text)
		for _, name := range testkit.Sample(t, []string{"zh", "ja", "de", "fr", "es", "ru"}, 3) {
			to := tongueOf(t, name)
			same := to.equal(en, text) + room - chars(text)
			for _, bad := range uneven(want, to.seen(rendered(to.session().companion(t, same)))) {
				t.Errorf("%s, %d chars for %d: %s", name, same, room, bad)
			}
		}
	}
}

// TestLanguagesTellTheSame has the translations hold the same parts.
func TestLanguagesTellTheSame(t *testing.T) {
	en := tongueOf(t, "en")
	for _, name := range []string{"zh", "ja", "de", "fr", "es", "ru"} {
		to := tongueOf(t, name)
		for key, parts := range en.parts {
			if len(to.parts[key]) != len(parts) {
				t.Errorf("%s, %s: %d parts, want %d", name, key, len(to.parts[key]), len(parts))
				continue
			}
			for i, part := range parts {
				if other := to.parts[key][i]; other == part || strings.HasPrefix(other, "- ") != strings.HasPrefix(part, "- ") {
					t.Errorf("%s, %s: %q for %q", name, key, other, part)
				}
			}
		}
	}
}

func TestUnevenJudges(t *testing.T) {
	en, zh := tongueOf(t, "en"), tongueOf(t, "zh")
	page := func(to *tongue, keys ...string) string {
		text := "## Conversation\n\n"
		for n := 1; n <= turns; n++ {
			for _, key := range []string{"aN", "dNa", "dNb", "rN"} {
				text += "> " + strings.ReplaceAll(to.text(of(key, n)), "\n", "\n> ") + "\n\n"
			}
		}
		text += "## Rules\n\n"
		for _, key := range append(keys, "a4", "a7", "a10", "x1", "x2") {
			text += "> " + to.text(key) + "\n"
		}
		return text
	}
	whole, other := page(en, "q", "o1"), page(zh, "q", "o1")
	wants(t, "all is shown", uneven(en.seen(whole), zh.seen(other)), false)
	wants(t, "no rules", uneven(en.seen(whole), zh.seen(strings.Replace(other, "## Rules", "## Files", 1))), true)
	wants(t, "half of it", uneven(en.seen(whole), zh.seen(other[:strings.Index(other[len(other)/2:], "\n")+len(other)/2])), true)
	if a, b := chars(other), zh.equal(en, whole); b < a*95/100 || b > a*105/100 {
		t.Errorf("the same takes %d chars in Chinese, %d were reckoned", a, b)
	}
}
