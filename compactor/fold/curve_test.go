package fold

import (
	"reflect"
	"testing"
)

func TestCurve(t *testing.T) {
	var c Curve
	for n := 1; n <= 1000; n++ {
		c.add(n, int64(n), n == 500)
	}
	if c.Step != 16 || len(c.Stretches) != 63 {
		t.Fatalf("step %d, %d stretches", c.Step, len(c.Stretches))
	}
	for i, s := range c.Stretches {
		want := Stretch{Tokens: min(int64(i+1)*16, 1000)}
		if i == 499/16 {
			want.Compactions = 1
		}
		if s != want {
			t.Errorf("stretch %d: %+v, want %+v", i, s, want)
		}
	}
	if got := DecodeCurve(c.Encode()); !reflect.DeepEqual(got, c) {
		t.Errorf("decoded %+v, want %+v", got, c)
	}
	for _, text := range []string{"", "?", "4 zz ?", "9999999999999999999999"} {
		if got := DecodeCurve(text); got.Step < 0 {
			t.Errorf("%q: %+v", text, got)
		}
	}
}
