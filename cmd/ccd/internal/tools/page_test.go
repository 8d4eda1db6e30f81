package tools

import (
	"bytes"
	"context"
	"io"
	"math"
	"strings"
	"testing"
	"unicode/utf8"
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

// FuzzPages: the pages of a text join to it and keep the limit.
func FuzzPages(f *testing.F) {
	f.Add([]byte("a\nbb\n\nccc"), 4)
	f.Add([]byte(strings.Repeat("山", 40)+"\n"), 7)
	f.Fuzz(func(t *testing.T, text []byte, room int) {
		room = 4 + (room&math.MaxInt)%60
		all := split(text, room)
		if got := bytes.Join(all, nil); !bytes.Equal(got, text) {
			t.Errorf("%q became %q", text, got)
		}
		for _, p := range all {
			if len(p) > room || utf8.Valid(text) && !utf8.Valid(p) {
				t.Errorf("page %q of %d", p, room)
			}
		}
	})
}
