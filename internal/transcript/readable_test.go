package transcript

import "testing"

func TestReadable(t *testing.T) {
	for _, c := range []struct {
		name string
		kind Kind
		raw  string
		want string
		same bool
	}{
		{"a string", Text, `"a\nb \"c\""`, "a\nb \"c\"", true},
		{"blocks", Result, `[{"type":"text","text":"a"},{"type":"text","text":"b"}]`, "a\nb", true},
		{"an image among them", Result, `[{"type":"text","text":"a"},{"type":"image","source":{"type":"base64","data":"QQ=="}},{"type":"text","text":"b"}]`, "a\nb", false},
		{"a block of another shape", Result, `[{"type":"text","text":"a"},{"type":"row","cells":["x\ty"]}]`, "a\n" + `{"type":"row","cells":["x` + "\t" + `y"]}`, false},
		{"an input", Call, `{"content":"a\n\"b\"","n":1}`, `{"content":"a` + "\n" + `"b"","n":1}`, false},
		{"an input in a string", Call, `"{\"cmd\":\"a \\\"b\\\"\"}"`, `{"cmd":"a "b""}`, false},
		{"no JSON in a string", Call, `"{ a \\n }"`, `{ a \n }`, true},
		{"a patch", Call, `"*** Begin Patch\n+a"`, "*** Begin Patch\n+a", true},
		{"JSON that someone says", Text, `"{\"a\":\"b\\nc\"}"`, `{"a":"b\nc"}`, true},
		{"an image", Image, `{"type":"base64","data":"QQ=="}`, "", false},
		{"reasoning", Thinking, `"so it is"`, "so it is", true},
		{"reasoning without spaces", Thinking, `"先读文件"`, "先读文件", true},
		{"kept encrypted", Thinking, `"gAAAAABo"`, "", false},
		{"a file", File, `"as it is`, `"as it is`, true},
		{"a number", Result, `12`, "12", true},
	} {
		text, same := Readable(c.kind, []byte(c.raw))
		if string(text) != c.want || same != c.same {
			t.Errorf("%s: %q, %v, want %q, %v", c.name, text, same, c.want, c.same)
		}
		if same && string(text) != string(Original(c.kind, []byte(c.raw))) {
			t.Errorf("%s: it is not what Original gives", c.name)
		}
	}
}
