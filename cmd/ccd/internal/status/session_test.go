package status

import (
	"testing"

	"ccd/daemon"
)

// The model's report comes before the estimate, and only what is converted says about.
func TestSize(t *testing.T) {
	for want, s := range map[string]Size{
		"61K, 31%":       SizeOf(61234, 40000, 171000, 200000),
		"about 40K, 20%": SizeOf(0, 40000, 171000, 200000),
		"about 43K":      SizeOf(0, 0, 171000, 0), // of an older ccd
		"0, 0%":          SizeOf(0, 0, 0, 200000),
	} {
		if got := s.String(); got != want {
			t.Errorf("%+v: %q, want %q", s, got, want)
		}
	}
	if Smaller(1000, 160) != "84%" || Smaller(1000, 1000) != "" || Smaller(0, 5) != "" {
		t.Error("smaller: ", Smaller(1000, 160), Smaller(1000, 1000), Smaller(0, 5))
	}
}

// A session has the name that its agent gave it, else what was asked first.
func TestName(t *testing.T) {
	e := entryOf("a", daemon.State{Ask: "fix\x1b[2J the cents", Cwd: "/home/you/ledger"})
	if s := Of(e); s.Called() != `fix\x1b[2J the cents` || s.Directory() != "ledger" {
		t.Errorf("%q in %q", s.Called(), s.Directory())
	}
	e.Kept.Title = "Cents"
	if got := Of(e).Called(); got != "Cents" {
		t.Errorf("with a title: %q", got)
	}
}
