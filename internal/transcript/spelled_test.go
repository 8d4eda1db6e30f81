package transcript

import (
	"bytes"
	"testing"
)

func FuzzNextEscape(f *testing.F) {
	f.Add([]byte(`a\\u00e9 \n\n\n\u001b 12345678\u`), 3)
	f.Fuzz(func(t *testing.T, data []byte, at int) {
		if at < 0 || at > len(data) {
			return
		}
		want := bytes.Index(data[at:], []byte(`\u`))
		if want >= 0 {
			want += at
		}
		if got := nextEscape(data, at); got != want {
			t.Errorf("from %d in %q: %d, want %d", at, data, got, want)
		}
	})
}
