package archive

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/mark"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

// said is a line of a transcript and the text in it.
type said struct {
	text   string
	folded string // in one case
	end    int64  // of the line
}

// filtered returns lines whose texts have characters of all kinds, spelled in all ways, and long runs.
func filtered(r *rand.Rand, size int) (data []byte, lines []said) {
	kinds := []string{"abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIKKLMS0123456789_-.:", "k\u212aſsSiİI", "éÉüñΣσςдДя日本", "\"\\/\t\n<>&'", "~^{}()=+"}
	for len(data) < size {
		var b strings.Builder
		for range 1 + r.IntN(40) {
			chars := []rune(kinds[min(r.IntN(9)%7, len(kinds)-1)])
			for range 1 + r.IntN(9) {
				if b.WriteRune(chars[r.IntN(len(chars))]); r.IntN(60) == 0 {
					b.WriteString("i\u0307")
				}
			}
			if r.IntN(3) > 0 {
				b.WriteByte(' ')
			}
		}
		if r.IntN(200) == 0 {
			run := make([]byte, 50+r.IntN(400))
			for i := range run {
				run[i] = byte(r.Uint32())
			}
			b.WriteString(base64.StdEncoding.EncodeToString(run))
		}
		text := b.String()
		data = append(append(data, spelledBy(r, text)...), '\n')
		lines = append(lines, said{text, oneCase(text), int64(len(data))})
	}
	return data, lines
}

// spelledBy returns JSON with the text, perhaps within JSON in a string, in one of the ways to write it.
func spelledBy(r *rand.Rand, text string) []byte {
	line, err := json.Marshal(map[string]string{"text": text})
	switch r.IntN(6) {
	case 0:
		var b strings.Builder
		for _, c := range text {
			if c > 0xffff || r.IntN(2) == 0 && c >= ' ' && c != '"' && c != '\\' {
				b.WriteRune(c)
			} else {
				fmt.Fprintf(&b, `\u%04x`, c)
			}
		}
		line = []byte(`{"text":"` + b.String() + `"}`)
	case 1:
		line, err = json.Marshal(map[string]string{"arguments": string(line)})
	case 2:
		line = bytes.ReplaceAll(line, []byte("/"), []byte(`\/`))
	}
	if err != nil {
		panic(err)
	}
	return line
}

// oneCase gives all cases of a text one form.
func oneCase(text string) string {
	text = strings.Map(func(r rune) rune {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, strings.ReplaceAll(text, "İ", "i"))
	return strings.ReplaceAll(strings.ToLower(text), "i\u0307", "i")
}

// hidden reads a session backward with the filters asked for the words, and counts the lines with all of want that are
// left out, and the bytes. It fails the test if a stretch is not what it says.
func hidden(t *testing.T, a *Archive, k transcript.Key, data []byte, lines []said, words, want []string) (n int, left int64) {
	t.Helper()
	r := a.Reader(k, 0)
	r.Only(words...)
	at := int64(len(data))
	for seg, err := range r.Backward(context.Background(), at) {
		var skipped *Skipped
		if err != nil && !errors.As(err, &skipped) {
			t.Fatal(err)
		}
		from, to := seg.Start.Offset, seg.End.Offset
		if to != at || err == nil && !bytes.Equal(seg.Data, data[from:to]) {
			t.Fatalf("bytes %d to %d are not what is before %d", from, to, at)
		}
		if at = from; err == nil {
			continue
		}
		if want := bytes.Count(data[from:to], []byte("\n")); skipped.Lines != want || data[to-1] != '\n' || from > 0 && data[from-1] != '\n' {
			t.Fatalf("bytes %d to %d: %d lines, want %d whole ones", from, to, skipped.Lines, want)
		}
		left += to - from
		for _, l := range lines {
			if l.end > from && l.end <= to && !slices.ContainsFunc(want, func(w string) bool { return !strings.Contains(l.folded, w) }) {
				n++
			}
		}
	}
	if at != 0 {
		t.Fatalf("the first %d bytes are missing", at)
	}
	return n, left
}

// No line is left out that has the words, and lines without them are. The control asks the filters for other grams.
func TestFiltersHideNoMatch(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 4))
	a := open(t)
	var left, control int64
	sessions, searches := testkit.Cases(t, 4, 12), testkit.Cases(t, 10, 60)
	for i := range sessions {
		data, lines := filtered(r, 20_000<<r.IntN(6))
		k := session(fmt.Sprint(i)).Key
		at := 0
		fill(t, a, session(k.ID), 1, data, func() int { // whole lines, but for some of each third session
			n := min(len(data)-at, 1+r.IntN(len(data)/(1+r.IntN(8))))
			if i%3 > 0 || r.IntN(2) == 0 {
				n += bytes.IndexByte(data[at+n-1:], '\n')
			}
			at += n
			return n
		})
		if _, more := hidden(t, a, k, data, lines, []string{"zzqxqzzvvw"}, []string{"zzqxqzzvvw"}); more > 0 {
			left++
		}
		for range searches {
			l := []rune(lines[r.IntN(len(lines))].text)
			var words []string
			for range 1 + r.IntN(2) {
				from := r.IntN(len(l))
				for _, w := range strings.FieldsFunc(string(l[from:min(len(l), from+3+r.IntN(12))]), func(r rune) bool {
					return strings.ContainsRune("\"\\/\t\n ", r)
				}) { // as a search splits them
					words = append(words, oneCase(w))
				}
			}
			if n, _ := hidden(t, a, k, data, lines, words, words); n > 0 {
				t.Fatalf("session %d: %d lines with %q are left out", i, n, words)
			}
			var other []string
			for _, w := range words {
				w := []byte(w)
				slices.Reverse(w)
				other = append(other, string(w))
			}
			n, _ := hidden(t, a, k, data, lines, other, words)
			control += int64(n)
		}
	}
	if left < int64(sessions)/2 || control == 0 {
		t.Errorf("bytes were left out of %d sessions, and %d lines by other grams: the test sees nothing", left, control)
	}
}

// Other filters would hide matches in older blocks: this number may never change.
func TestFilterNeverChanges(t *testing.T) {
	t.Parallel()
	data, _ := filtered(rand.New(rand.NewPCG(5, 5)), 200<<10)
	if got := fmt.Sprint(mark.Sum(encodeFilter(data, mark.Hash{}))); got[:12] != "3321ab31e099" {
		t.Errorf("the filter hashes to %s", got[:12])
	}
}

// A damaged filter is none.
func TestDamagedFilter(t *testing.T) {
	t.Parallel()
	a := openAt(t, filepath.Join(t.TempDir(), "archive.db"), Options{})
	data := talk(1, 300<<10)
	fill(t, a, session("s"), 1, data, whole)
	k := session("s").Key
	if _, left := hidden(t, a, k, data, nil, []string{"zzqxqzz"}, nil); left == 0 {
		t.Fatal("nothing is left out: the test sees nothing")
	}
	must(t, a.update(context.Background(), 0, func(tx *bolt.Tx) error {
		c := tx.Bucket(bucketBlocks).Cursor()
		for key, v := c.First(); key != nil; key, v = c.Next() {
			in := tx.Bucket(bucketBlocks)
			if v == nil {
				in = in.Bucket(key)
				v = in.Get(key)
			}
			v = bytes.Clone(v)
			if i := bytes.Index(v, []byte("\x5c\x2a\x4d\x18")); i >= 0 {
				v[i+30] ^= 1
			}
			if err := in.Put(key, v); err != nil {
				return err
			}
		}
		return nil
	}))
	r := a.Reader(k, 0)
	r.Only("zzqxqzz")
	if out, err := a.LeftOut(t.Context(), []*Reader{r}); err != nil || out[0] {
		t.Errorf("bytes are left out by damaged filters, %v", err)
	}
}
