package redact

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"ccd/internal/testkit"
)

// seeds adds the texts of the lists, as they are and in JSON, and each kind of token in each encoding.
func seeds(f *testing.F) *Rules {
	f.Helper()
	for _, name := range []string{"secrets.txt", "others.txt", "later.txt", "harmless.txt"} {
		text := testkit.Read(f, "testdata/"+name)
		text = []byte(strings.NewReplacer("«any»", "q7Zk2Pm9", "«odd»", "abcde5fGh!", "«b64»", "aGVsbG8gd29ybGQhIQ==", "«sign»", "x9=/&@?!%+4k", "{n}", "password", "{N}", "API_TOKEN", "{w}", "user").Replace(string(text)))
		for form := range bytes.SplitSeq(text, []byte("\n----\n")) {
			f.Add(form, uint16(len(form)/2))
			quoted, _ := json.Marshal(map[string]string{"text": string(form)})
			f.Add(quoted, uint16(7))
		}
	}
	for kind, secret := range secrets {
		for _, text := range encodings(secret) {
			f.Add([]byte(kind+"\n"+text), uint16(20))
		}
	}
	return shipped(f)
}

// FuzzMarks: whatever the text, the marks are in order, and JSON stays JSON.
func FuzzMarks(f *testing.F) {
	rules := seeds(f)
	f.Fuzz(func(t *testing.T, text []byte, _ uint16) {
		if len(text) > 4<<10 {
			return
		}
		marks := rules.Session().Marks(text)
		end := 0
		for _, m := range marks {
			if m.From < end || m.To <= m.From || m.To > len(text) {
				t.Fatalf("%q: mark [%d,%d) after %d", text, m.From, m.To, end)
			}
			end = m.To
		}
		shown := Apply(text, 0, marks)
		if json.Valid(text) && !json.Valid(shown) {
			t.Errorf("%q: no JSON: %q", text, shown)
		}
	})
}

// FuzzStream: a stream leaves out what its whole text has, with the same numbers, also if one of its windows, or what it writes of one,
// ends at byte at of the text.
func FuzzStream(f *testing.F) {
	rules := seeds(f)
	f.Fuzz(func(t *testing.T, text []byte, at uint16) {
		if len(text) > 1<<10 {
			return
		}
		const window, overlap = 8 << 10, 2 << 10
		line := []byte(strings.Repeat("x", 79) + "\n")
		for _, end := range []int{window, window - overlap} {
			before := end - int(at)%(len(text)+1)
			whole := append(bytes.Repeat(line, before/len(line)), bytes.Repeat([]byte("\n"), before%len(line))...)
			whole = append(append(append(whole, text...), '\n'), bytes.Repeat(line, overlap/len(line))...)
			var out bytes.Buffer
			s := &Stream{Session: rules.Session(), w: &out, window: window, overlap: overlap}
			if _, err := s.Write(whole); err != nil {
				t.Fatal(err)
			}
			testkit.Must(t, s.Close())
			if want := Apply(whole, 0, rules.Session().Marks(whole)); !bytes.Equal(out.Bytes(), want) {
				from := 0
				for out.Len() > from && len(want) > from && out.Bytes()[from] == want[from] {
					from++
				}
				t.Errorf("%q, a window that ends at byte %d: at %d: %q, in a whole text %q", text, end-before, from, out.Bytes()[max(0, from-40):min(out.Len(), from+60)], want[max(0, from-40):min(len(want), from+60)])
			}
		}
	})
}
