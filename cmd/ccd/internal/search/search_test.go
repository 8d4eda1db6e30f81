package search_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"ccd/archive"
	"ccd/cmd/ccd/internal/account"
	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/search"
	"ccd/internal/mark"
	"ccd/internal/testkit"
	"ccd/internal/testkit/gen"
	"ccd/internal/transcript"
)

// shelf is an archive that is verified when the test ends, unless it is to be damaged.
type shelf struct {
	*archive.Archive
	t    testing.TB
	path string
}

func newShelf(t testing.TB) *shelf {
	t.Helper()
	path := filepath.Join(t.TempDir(), "archive.db")
	a, err := archive.Open(path, archive.Options{})
	testkit.Must(t, err)
	return &shelf{a, t, path}
}

// put archives text as the next generation of a session, in portions.
func (s *shelf) put(agent, id string, class transcript.Class, generation int, text string, portion int) transcript.Key {
	s.t.Helper()
	one := transcript.Session{Key: transcript.Key{Agent: agent, ID: id}, Class: class, Path: "/h/" + id + ".jsonl", Root: "/h"}
	for off := 0; ; {
		n := min(portion, len(text)-off)
		seg := transcript.Segment{
			Start: transcript.Cursor{Generation: generation, Offset: int64(off)}, Data: []byte(text[off : off+n]),
			End: transcript.Cursor{Generation: generation, Offset: int64(off + n)},
		}
		testkit.Must(s.t, s.Append(context.Background(), one, seg))
		if off += n; off == len(text) {
			return one.Key
		}
	}
}

// library is one of the archive alone.
func (s *shelf) library() *reader.Library {
	return &reader.Library{Place: &account.Place{Archive: s.Archive}}
}

func (s *shelf) source(k transcript.Key) *reader.Entry {
	s.t.Helper()
	one, err := s.Session(context.Background(), k)
	testkit.Must(s.t, err)
	return &reader.Entry{Session: one}
}

// find returns all hits; damage is counted.
func (s *shelf) find(q search.Query, in ...*reader.Entry) (hits []search.Hit, damage int) {
	s.t.Helper()
	for h, err := range (search.Search{Library: s.library(), Sessions: in, Query: q}).Hits(context.Background()) {
		switch _, isDamage := err.(interface{ Unwrap() error }); {
		case err == nil:
			hits = append(hits, h)
		case isDamage && strings.Contains(err.Error(), "damage"):
			damage++
		default:
			s.t.Fatal(err)
		}
	}
	return hits, damage
}

// place is what a hit must agree in with the oracle.
type place struct {
	Record int
	Kind   string
	Tool   string
	ID     mark.ID
}

func places(hits []search.Hit) (all []place) {
	for _, h := range hits {
		all = append(all, place{h.Record, h.Kind.String(), h.Tool, h.ID})
	}
	return all
}

// folded gives all cases of a text one form, one character after the other.
func folded(text string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, text)
}

// item is what a full decoding finds.
type item struct {
	place
	text string // folded, runs of white space as one blank
}

// items decodes all of a generation.
func (s *shelf) items(k transcript.Key, class transcript.Class, generation int) (all []item) {
	s.t.Helper()
	one := reader.Reading{Session: transcript.Session{Key: k, Class: class}, Generation: archive.Generation{N: generation, Tip: transcript.Cursor{Offset: math.MaxInt64}}, Archive: s.Archive}
	for r, err := range one.Records(context.Background()) {
		testkit.Must(s.t, err)
		for _, it := range r.Items {
			if text, _ := transcript.Readable(it.Kind, it.Raw); len(text) > 0 {
				where := place{r.N, it.Kind.String(), it.Tool, mark.Sum(it.Raw).ID()}
				all = append(all, item{where, strings.Join(strings.Fields(folded(string(text))), " ")})
			}
		}
	}
	slices.Reverse(all)
	return all
}

// holding are the places of the items in which all words stand.
func holding(items []item, words ...string) (all []place) {
	for _, it := range items {
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(it.text, folded(w)) }) {
			all = append(all, it.place)
		}
	}
	return all
}

func line(kind, content string) string {
	return fmt.Sprintf(`{"type":%q,"timestamp":"2026-02-03T04:05:06.000Z","cwd":"/src/ink","message":{"role":%q,"content":%s}}`+"\n", kind, kind, content)
}

func asked(text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return line("user", string(data))
}

func called(id, tool, input string) string {
	return line("assistant", fmt.Sprintf(`[{"type":"tool_use","id":%q,"name":%q,"input":%s}]`, id, tool, input))
}

func returned(id, text string) string {
	return line("user", fmt.Sprintf(`[{"type":"tool_result","tool_use_id":%q,"content":%q}]`, id, text))
}

// words takes words out of the text of a session: common and rare ones, parts of words, and some that are not there.
func words(rng *rand.Rand, text string) (all []string) {
	fields := strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == '"' || r == '\\' })
	for range 12 {
		w := fields[rng.IntN(len(fields))]
		if len(w) > 3 && rng.IntN(2) == 0 {
			w = w[1 : len(w)-1]
		}
		if rng.IntN(2) == 0 {
			w = strings.ToUpper(w)
		}
		all = append(all, strings.ToValidUTF8(w, ""))
	}
	return append(all, "zzqx", "e")
}

// Nothing is missed that a full decoding finds, and nothing is given that it does not find, whatever the cut.
func TestHitsAreThoseOfAFullDecoding(t *testing.T) {
	found, seeds, size := 0, testkit.Cases(t, 1, 3), int64(testkit.Cases(t, 512<<10, 3<<20))
	for _, agent := range []string{gen.Claude, gen.Codex} {
		for seed := range uint64(seeds) {
			rng := rand.New(rand.NewPCG(seed, 1))
			var b bytes.Buffer
			testkit.Must(t, gen.Write(&b, agent, seed+1, size))
			text := b.String()
			s := newShelf(t)
			k := s.put(agent, "one", transcript.Main, 1, text, 100_000+rng.IntN(int(size)/3))
			in, items := s.source(k), s.items(k, transcript.Main, 1)
			for i, w := range words(rng, text) {
				if w == "" {
					continue
				}
				q := []string{w}
				if i%3 == 2 {
					q = append(q, "the")
				}
				want := holding(items, q...)
				hits, _ := s.find(search.Query{Words: q}, in)
				if got := places(hits); !slices.Equal(want, got) {
					t.Fatalf("%s, seed %d, %q (-want +got):\n%s", agent, seed, q, cmp.Diff(want, got))
				}
				found += len(hits)
			}
		}
	}
	if found < int(size>>20+1)*seeds*70 {
		t.Errorf("%d hits: the test sees nothing", found)
	}
}

func TestWhatMatches(t *testing.T) {
	for _, c := range []struct {
		name, item string // a message's content as JSON
		words      []string
		want       bool
	}{
		{"a word", `"Mix the ink"`, []string{"mix"}, true},
		{"all words, in any order", `"Mix the ink"`, []string{"INK", "Mix"}, true},
		{"not all", `"Mix the ink"`, []string{"ink", "gum"}, false},
		{"part of a word", `"parseConfig"`, []string{"config"}, true},
		{"a phrase", `"exit status 2"`, []string{"Exit Status"}, true},
		{"not in this order", `"exit status 2"`, []string{"status exit"}, false},
		{"a phrase over a line end", `"exit\n\tstatus 2"`, []string{"exit status"}, true},
		{"not next to each other", `"exit with status 2"`, []string{"exit status"}, false},
		{"the second place of a phrase", `"exit it exit status"`, []string{"exit status"}, true},
		{"escaped quotes", `"say \"hi\" twice"`, []string{`"hi"`}, true},
		{"a backslash", `"C:\\new"`, []string{`c:\new`}, true},
		{"no match over an escape", `"\nfoo"`, []string{"nfoo"}, false},
		{"an escaped slash", `"src\/main.go"`, []string{"src/main"}, true},
		{"spelled ASCII", `"\u0061bc"`, []string{"abc"}, true},
		{"spelled angle", `"\u003cdiv\u003e"`, []string{"<div>"}, true},
		{"Greek, any case", `"ΟΔΟΣ"`, []string{"οδος"}, true},
		{"spelled Cyrillic", `"\u041f\u0443\u0442\u044c"`, []string{"путь"}, true},
		{"raw Cyrillic", `"Путь"`, []string{"ПУТЬ"}, true},
		{"no case", `"日本語のログ"`, []string{"本語"}, true},
		{"a pair of surrogates", `"ship \ud83d\ude80"`, []string{"🚀"}, true},
		{"the kelvin sign", `"300 \u212aelvin"`, []string{"kelvin"}, true},
		{"the raw kelvin sign", `"300 Kelvin"`, []string{"kelvin"}, true},
		{"the long s", `"meſſage"`, []string{"MESSAGE"}, true},
		{"control characters", `"\u001b[31mred"`, []string{"[31mred"}, true},
		{"a control character alone", `"\u001b[31mred"`, []string{"\x1b"}, true},
		{"blocks", `[{"type":"text","text":"one"},{"type":"text","text":"two"}]`, []string{"two"}, true},
		{"words of two items", `[{"type":"text","text":"one"},{"type":"text","text":"two"}]`, []string{"one", "two"}, false},
		{"the input of a call", `[{"type":"tool_use","id":"c","name":"Write","input":{"content":"a \"b\"\nc"}}]`, []string{`"b" c`}, true},
		{"an image", `[{"type":"image","source":{"type":"base64","data":"aGVsbG8="}}]`, []string{"aGVsbG8"}, false},
		{"an image in a result", `[{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"pixels"},{"type":"image","source":{"type":"base64","data":"aGVsbG8="}}]}]`, []string{"aGVsbG8"}, false},
		{"beside it", `[{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"pixels"},{"type":"image","source":{"type":"base64","data":"aGVsbG8="}}]}]`, []string{"pixels"}, true},
		{"encrypted reasoning", `[{"type":"thinking","thinking":"","signature":"RXJyb3I"}]`, []string{"rxjy"}, false},
		{"reasoning", `[{"type":"thinking","thinking":"Where does it round?"}]`, []string{"round"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newShelf(t)
			role := "user"
			if strings.Contains(c.item, "tool_use\"") || strings.Contains(c.item, "thinking") {
				role = "assistant"
			}
			k := s.put("claude-code", "one", transcript.Main, 1, line("user", `"before"`)+line(role, c.item)+line("user", `"behind"`), 1<<20)
			hits, _ := s.find(search.Query{Words: c.words}, s.source(k))
			if (len(hits) == 1) != c.want || len(hits) > 1 {
				t.Errorf("%d hits for %q in %s", len(hits), c.words, c.item)
			}
			if c.want && hits[0].Record != 2 {
				t.Errorf("in record %d, want 2", hits[0].Record)
			}
		})
	}
}

// TestWholeWords: a hit is a part only if a word is nowhere by itself, and its snippet shows the word itself.
func TestWholeWords(t *testing.T) {
	s := newShelf(t)
	k := s.put("claude-code", "one", transcript.Main, 1, line("user", `"rebill it\nthe bill, Straße_2"`), 1<<20)
	for word, part := range map[string]bool{"bill": false, "bil": true, "Straße": true, "the bill": false, "he bill": true} {
		hits, _ := s.find(search.Query{Words: []string{word}}, s.source(k))
		if len(hits) != 1 || hits[0].Part != part || word == "bill" && hits[0].Line != 2 {
			t.Errorf("%s: %+v", word, hits)
		}
	}
}

// TestWordsInTheQueueAreAPersons: what a person typed while the agent worked often stands nowhere else.
func TestWordsInTheQueueAreAPersons(t *testing.T) {
	s := newShelf(t)
	k := s.put("claude-code", "one", transcript.Main, 1, line("user", `"before"`)+`{"type":"queue-operation","operation":"enqueue","content":"never the bills"}`+"\n", 1<<20)
	if hits, _ := s.find(search.Query{Words: []string{"bills"}}, s.source(k)); len(hits) != 1 || hits[0].Kind != transcript.Human || hits[0].Snippet != "never the bills" {
		t.Errorf("%+v", hits)
	}
}

func TestToolsAndPaths(t *testing.T) {
	s := newShelf(t)
	text := strings.Join([]string{
		asked("Read the recipe"),
		called("c1", "Read", `{"file_path":"/src/ink/lib/recipe.txt"}`),
		returned("c1", "gum and soot"),
		called("c2", "Bash", `{"command":"rm old.txt"}`),
		returned("c2", "removed, with gum"),
		called("c3", "mcp__shop__buy", `{"what":"gum"}`),
		returned("c3", "bought gum"),
		called("c4", "Edit", `{"file_path":"/src/ink/README.md","old_string":"gum","new_string":"soot"}`),
		returned("c4", "updated"),
		called("c5", "AskUserQuestion", `{"questions":[{"question":"More gum?"}]}`),
		returned("c5", "User has answered your questions: \"More gum?\"=\"a barrel of it\". You can now continue with the user's answers in mind."),
		// The same call ID once more: the last call before the result counts.
		called("c1", "Bash", `{"command":"echo gum"}`),
		returned("c1", "gum"),
	}, "")
	k := s.put("claude-code", "one", transcript.Main, 1, text, 400)
	for _, c := range []struct {
		name string
		q    search.Query
		want []int
	}{
		{"words alone", search.Query{Words: []string{"gum"}}, []int{13, 12, 11, 10, 8, 7, 6, 5, 3}},
		{"a tool", search.Query{Tool: "bash"}, []int{13, 12, 5, 4}},
		{"a tool and a word", search.Query{Tool: "Bash", Words: []string{"gum"}}, []int{13, 12, 5}},
		{"a server's tool", search.Query{Tool: "buy"}, []int{7, 6}},
		{"its whole name", search.Query{Tool: "mcp__shop__buy"}, []int{7, 6}},
		{"a path", search.Query{Path: "/src/ink/lib/recipe.txt"}, []int{3, 2}},
		{"the end of a path", search.Query{Path: "lib/recipe.txt"}, []int{3, 2}},
		{"a directory", search.Query{Path: "/src/ink"}, []int{9, 8, 5, 4, 3, 2}},
		{"a pattern", search.Query{Path: "*.md"}, []int{9, 8}},
		{"a command's file", search.Query{Path: "old.txt"}, []int{5, 4}},
		{"a path and a word", search.Query{Path: "*.txt", Words: []string{"gum"}}, []int{5, 3}},
		{"a path and a tool", search.Query{Path: "*.txt", Tool: "read"}, []int{3, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			hits, _ := s.find(c.q, s.source(k))
			var got []int
			for _, h := range hits {
				got = append(got, h.Record)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("records (-want +got):\n%s", diff)
			}
		})
	}
	hits, _ := s.find(search.Query{Words: []string{"barrel"}}, s.source(k))
	if len(hits) != 1 || hits[0].Kind != transcript.Human || hits[0].Tool != "AskUserQuestion" {
		t.Errorf("a person's answer: %+v", hits)
	}
}

func TestSince(t *testing.T) {
	s := newShelf(t)
	early := strings.ReplaceAll(asked("ink"), "2026-02-03", "2026-02-01")
	k := s.put("claude-code", "one", transcript.Main, 1, early+asked("ink")+strings.ReplaceAll(asked("ink"), `"timestamp"`, `"x"`), 1<<20)
	day := func(n int) time.Time { return time.Date(2026, 2, n, 0, 0, 0, 0, time.UTC) }
	in := s.source(k)
	in.Kept.Last = day(4)
	for n, want := range map[int]int{1: 3, 2: 2, 4: 1, 5: 0} {
		if hits, _ := s.find(search.Query{Words: []string{"ink"}, Since: day(n)}, in); len(hits) != want {
			t.Errorf("since the %dth: %d hits, want %d", n, len(hits), want)
		}
	}
}

func TestGenerations(t *testing.T) {
	s := newShelf(t)
	s.put("claude-code", "one", transcript.Main, 1, asked("old ink")+asked("ink, twice")+asked("gone ink"), 1<<20)
	k := s.put("claude-code", "one", transcript.Main, 2, asked("ink, twice")+asked("new ink")+asked("ink, twice"), 1<<20)
	hits, _ := s.find(search.Query{Words: []string{"ink"}}, s.source(k))
	var got []string
	for _, h := range hits {
		got = append(got, fmt.Sprintf("%d#%d %s", h.Generation, h.Record, h.Snippet))
	}
	want := []string{"2#3 ink, twice", "2#2 new ink", "2#1 ink, twice", "1#3 gone ink", "1#1 old ink"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("hits (-want +got):\n%s", diff)
	}
}

func TestMain(m *testing.M) {
	testkit.InMemory()
	os.Exit(m.Run())
}
