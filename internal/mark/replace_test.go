package mark

import "testing"

func TestReplace(t *testing.T) {
	const a, b = "0123456789ab", "4tq9c1m7x2ka"
	with := func(id ID) (string, bool) { return "[ccd " + string(id) + " gone]", id == a }
	for _, c := range []struct{ name, in, want string }{
		{"a marker", "- x [ccd " + a + " output, 3 lines] y\n", "- x [ccd " + a + " gone] y\n"},
		{"bare", "[ccd " + a + "]", "[ccd " + a + " gone]"},
		{"several", "[ccd " + b + " x][ccd " + a + " y] [ccd " + a + "]\n", "[ccd " + b + " x][ccd " + a + " gone] [ccd " + a + " gone]\n"},
		{"brackets in it", "[ccd " + a + " cut: a[0], b[1][2]] c\n", "[ccd " + a + " gone] c\n"},
		{"one that opens only", "[ccd " + a + " cut: a[0 x] c\n", "[ccd " + a + " gone] c\n"},
		{"in another's text", "[ccd " + b + " of [ccd " + a + " x]]\n", "[ccd " + b + " of [ccd " + a + " gone]]\n"},
		{"quoted", "> [ccd " + a + " x]\n   >+ [ccd " + a + "]\n", "> [ccd " + a + " x]\n   >+ [ccd " + a + "]\n"},
		{"no end", "[ccd " + a + " x\n", "[ccd " + a + " x\n"},
		{"no id", "[ccd ID ...] [ccd \n", "[ccd ID ...] [ccd \n"},
		{"too short", "[ccd 0123]", "[ccd 0123]"},
	} {
		if got := string(Replace([]byte(c.in), with)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
