package transcript

import "testing"

func TestCleanJSON(t *testing.T) {
	for in, want := range map[string]string{
		`"plain"`:               `"plain"`,
		` {"a":1} `:             `{"a":1}`,
		`"\ud83d\ude00"`:        `"\ud83d\ude00"`,
		`"\ud83d alone"`:        "\"\ufffd alone\"",
		`"\ude00\ud83d"`:        "\"\ufffd\ufffd\"",
		`"\\ud83d"`:             `"\\ud83d"`,
		`"\u0041\\\udc00"`:      "\"A\\\\\ufffd\"",
		"\"a\xffb\"":            "\"a\ufffdb\"",
		`{"\ud800":"\udfff x"}`: "{\"\ufffd\":\"\ufffd x\"}",
		"{\n \"a\": [1]\n}":     `{"a":[1]}`,
		`no JSON`:               `"no JSON"`,
		``:                      `""`,
	} {
		if got := string(CleanJSON([]byte(in))); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}
