package transcript

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestOriginal(t *testing.T) {
	for _, c := range []struct {
		name string
		kind Kind
		raw  string
		want string
	}{
		{"string", Text, `"a\n\"b\" \u00e9 \/"`, "a\n\"b\" é /"},
		{"pair", Text, `"\ud83d\ude00"`, "😀"},
		{"lone surrogate", Text, `"a\ud800b"`, "a\xed\xa0\x80b"},
		{"low before high", Text, `"\ude00\ud83d"`, "\xed\xb8\x80\xed\xa0\xbd"},
		{"lone before pair", Text, `"\ud83d\ud83d\ude00"`, "\xed\xa0\xbd😀"},
		{"not utf-8", Text, "\"a\xff\"", "a\xff"},
		{"blocks", Result, `[{"type":"text","text":"a"}, {"type":"input_text","text":"b\n"},"c"]`, "a\nb\n\nc"},
		{"one block", Result, `[{"type":"text","text":"a"}]`, "a"},
		{"empty list", Result, `[]`, `[]`},
		{"mixed blocks", Result, `[{"type":"text","text":"a"},{"type":"x"}]`, `[{"type":"text","text":"a"},{"type":"x"}]`},
		{"the block of an empty output", Result, `{"type":"tool_result","content":"","is_error":false}`, ""},
		{"object", Call, `{"a": 1}`, `{"a": 1}`},
		{"image", Image, `{"type":"base64","media_type":"image/png","data":"aGk="}`, "hi"},
		{"data url", Image, `"data:image/png;base64,aGk="`, "hi"},
		{"bare base64", Image, `"aGk="`, "hi"},
		{"image url", Image, `{"type":"url","url":"https://example.invalid/a.png"}`, "https://example.invalid/a.png"},
		{"file id", Image, `{"type":"file","file_id":"f1"}`, `{"type":"file","file_id":"f1"}`},
		{"attachment", File, `"as it stands"`, `"as it stands"`},
		{"not json", Text, `"torn`, `"torn`},
		{"escapes that JSON does not know", Text, `"\x\u12\uzzzz\\"`, `xu12uzzzz\`},
		{"an image that does not decode", Image, `"a?"`, `"a?"`},
		{"two strings", Text, `"a" "b"`, `"a" "b"`},
		{"nothing", Text, ``, ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Original(c.kind, []byte(c.raw)); string(got) != c.want {
				t.Errorf("Original = %q, want %q", got, c.want)
			}
		})
	}
}

func FuzzOriginal(f *testing.F) {
	for _, s := range []string{
		`""`, `"a\\"`, `"\u0041\ud83d\ude00\ud800x"`, `"\ud83d\ud83d\ude00"`, "\"\xff\xc3\"", `[{"text":"a"},"b"]`,
		`[{"type":"image","source":{}}]`, `{"text":"a"}`, `[[]]`, ` "a" `, `17`, `"`, ``,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		before := bytes.Clone(raw)
		got := Original(Text, raw)
		chars := Chars(raw)
		if !bytes.Equal(raw, before) {
			t.Fatal("raw was changed")
		}
		if chars < 0 || chars > len(raw) {
			t.Fatalf("Chars = %d of %d bytes", chars, len(raw))
		}
		var want string
		if json.Unmarshal(raw, &want) != nil || !utf8.Valid(raw) || raw[0] == 'n' {
			return
		}
		if fixed := wtf8ToReplacement(string(got)); fixed != want {
			t.Fatalf("Original(%q) = %q, encoding/json has %q", raw, got, want)
		}
		if n := utf8.RuneCountInString(want); chars != n {
			t.Fatalf("Chars(%q) = %d, the text has %d", raw, chars, n)
		}
	})
}

// wtf8ToReplacement replaces lone surrogates as encoding/json does.
func wtf8ToReplacement(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		if len(s) >= i+3 && s[i] == 0xed && s[i+1] >= 0xa0 {
			b.WriteRune(utf8.RuneError)
			i += 3
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		b.WriteRune(r)
		i += size
	}
	return b.String()
}

func TestChars(t *testing.T) {
	for _, c := range []struct {
		raw  string
		want int
	}{
		{`"héllo"`, 5},
		{`"\u00e9\n\ud83d\ude00"`, 3},
		{`[{"type":"text","text":"ab"},{"type":"text","text":"c"}]`, 4},
		{`[{"type":"image","source":{"type":"base64","data":"AAAA"}}]`, 0},
		{`[{"type":"text","text":"ab"},{"type":"image","source":{"type":"base64","data":"AAAA"}}]`, 2},
		{`{"type":"base64","media_type":"image/png","data":"AAAA"}`, 0},
		{`{"a":1}`, 7},
		{`torn é`, 6},
	} {
		if got := Chars([]byte(c.raw)); got != c.want {
			t.Errorf("Chars(%s) = %d, want %d", c.raw, got, c.want)
		}
	}
}
