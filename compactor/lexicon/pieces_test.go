package lexicon

import (
	"strings"
	"testing"
)

// The pieces of a text take time in proportion to it.
func TestPiecesAreLinear(t *testing.T) {
	for name, piece := range map[string]string{"list": "- an item of it\n", "sentences": "It is. ", "colons": "so:\n- a\n\n", "one line": "word "} {
		n := 0
		for _, p := range Pieces(strings.Repeat(piece, 1<<20/len(piece))) {
			n += len(p.Text)
		}
		if n > 1<<20 {
			t.Errorf("%s: the pieces of 1 MB have %d bytes", name, n)
		}
	}
}
