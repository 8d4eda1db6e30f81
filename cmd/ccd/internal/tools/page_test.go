package tools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"ccd/internal/testkit"
)

// listing answers timeline and companion with a text. One stops early, the other counts its pages.
func listing(text string) Archive {
	return Archive{
		Timeline: func(_ context.Context, _ OfSession, w io.Writer) (string, error) {
			_, err := io.WriteString(w, text)
			return "s", err
		},
		Companion: func(_ context.Context, _ CompanionQuery, w io.Writer) (string, error) {
			_, err := io.WriteString(w, text)
			return "s", err
		},
	}
}

func TestPagesOfLinesJoin(t *testing.T) {
	all := originals()
	for _, name := range testkit.Sample(t, slices.Sorted(maps.Keys(all)), 3) {
		text := strings.ToValidUTF8(string(all[name]), "?")
		for client, most := range map[string]int{"claude-code": maxAnswer, "Codex": 11_500} {
			s := connect(t, listing(text), client)
			for _, tool := range []string{"timeline", "companion"} {
				if got, n := pages(t, s, tool, nil, most); got != text {
					t.Errorf("%s: %d pages for %s are not the text: %d bytes of %d", name, n, client, len(got), len(text))
				}
			}
		}
	}
}

func TestPagesEndBehindLines(t *testing.T) {
	text := strings.Repeat("> a quoted line of a companion\n", 6000)
	s := connect(t, listing(text), "x")
	all := texts(call(t, s, "companion", map[string]any{"page": 2}))
	if !strings.HasPrefix(all[1], "> ") || !strings.HasSuffix(all[1], "\n") || !strings.Contains(all[0], "companion of session s, page 2 of 4") {
		t.Errorf("%q begins %.10q", all[0], all[1])
	}
	if want := `next page: companion {"page":3,"session":"s"}`; !strings.Contains(all[2], want) {
		t.Errorf("%q, want %s", all[2], want)
	}
	r := call(t, s, "companion", map[string]any{"page": 5})
	if !r.IsError || !strings.Contains(texts(r)[0], "no page 5") {
		t.Errorf("behind the end: %q", texts(r))
	}
}

// FuzzPages: however a text is split into writes, the pages are the same, join to the text and keep the limit.
func FuzzPages(f *testing.F) {
	f.Add([]byte("a\nbb\n\nccc"), uint64(1), 4)
	f.Add([]byte(strings.Repeat("山", 40)+"\n"), uint64(2), 7)
	f.Fuzz(func(t *testing.T, text []byte, seed uint64, room int) {
		room = 4 + (room&math.MaxInt)%60
		whole := paged(t, text, room, rand.New(rand.NewPCG(0, 0)), math.MaxInt)
		split := paged(t, text, room, rand.New(rand.NewPCG(seed, seed)), 9)
		if fmt.Sprintf("%q", whole) != fmt.Sprintf("%q", split) {
			t.Errorf("pages of %d depend on the writes: %q and %q", room, whole, split)
		}
		if got := bytes.Join(split, nil); !bytes.Equal(got, text) {
			t.Errorf("%q became %q", text, got)
		}
		for _, p := range split {
			if len(p) > room || utf8.Valid(text) && !utf8.Valid(p) {
				t.Errorf("page %q of %d", p, room)
			}
		}
	})
}

// paged returns all pages of a text that is written in pieces of at most most bytes.
func paged(t *testing.T, text []byte, room int, r *rand.Rand, most int) (all [][]byte) {
	t.Helper()
	for want := 1; ; want++ {
		p := &page{room: room, want: want}
		if err := write(p, text, r, most); err != nil {
			t.Fatal(err)
		}
		if err := p.end(); err != nil {
			t.Fatal(err)
		}
		if p.at < want {
			return all
		}
		all = append(all, p.text)
	}
}

func write(w io.Writer, text []byte, r *rand.Rand, most int) error {
	for len(text) > 0 {
		n := len(text)
		if most < n {
			n = 1 + r.IntN(most)
		}
		if _, err := w.Write(text[:n]); err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}

// FuzzWindow: consecutive windows join to the text, however it is split into writes.
func FuzzWindow(f *testing.F) {
	f.Add([]byte("a\xffé山😀\xe5\xb1"), uint64(1), 3, 5)
	f.Fuzz(func(t *testing.T, text []byte, seed uint64, limit, room int) {
		limit, room = 1+(limit&math.MaxInt)%40, 4+(room&math.MaxInt)%40
		r := rand.New(rand.NewPCG(seed, seed))
		want := []rune(string(text)) // each byte that is not UTF-8 becomes one U+FFFD
		got := []byte{}
		for from := int64(0); ; {
			w := &window{from: from, limit: int64(limit), room: room, all: seed%2 == 0}
			err := write(w, text, r, 7)
			if err == nil {
				err = w.end()
			}
			if err != nil && !errors.Is(err, errEnough) {
				t.Fatal(err)
			}
			if len(w.text) > room || utf8.RuneCount(w.text) > limit || !utf8.Valid(w.text) {
				t.Fatalf("window %q of %d bytes, %d characters", w.text, room, limit)
			}
			if got = append(got, w.text...); !w.more {
				if err == nil && w.at != int64(len(want)) {
					t.Errorf("%d characters were counted of %d", w.at, len(want))
				}
				break
			}
			from += int64(utf8.RuneCount(w.text))
		}
		if string(got) != string(want) {
			t.Errorf("%q became %q", text, got)
		}
	})
}
