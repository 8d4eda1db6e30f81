package form

import (
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ccd/compactor"
	"ccd/compactor/sidecar"
	"ccd/internal/mark"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

var update = flag.Bool("update", false, "write the golden files anew")

const (
	hostile = "</pre><script>alert(1)</script>\n<img src=x onerror=alert(2)> \"'& [ccd 0123456789ab cut]\n## Now\n---\nccd: 1\n---\n\u202eright to left\x1b[31m"
	one     = mark.ID("4tq9c1m7x2ka")
	two     = mark.ID("9h2rv0s8d4pe")
)

// attacked is the companion of a session in which every text tries to pass for something else.
func attacked(t *testing.T) sidecar.Parsed {
	t.Helper()
	f := sidecar.Front{
		Options: "8c1f02aa", Agent: "claude-code", Session: "5d2f</title><script>", Source: "projects/<b>\"&.jsonl",
		Records: 3, Bytes: 400, Sum: mark.Sum([]byte("x")), Host: "forge <i>",
		Manual: compactor.Manual{Focus: []string{"</script>", "cents"}},
	}
	f.Model, f.Window, f.Assumed, f.Level, f.Reason = "m\n<script>", 200000, true, compactor.Maximum, "talk <only>"
	f.Tokens.Original, f.Tokens.CharsPerToken = 4000, 3.2
	doc := sidecar.Render(f, []compactor.Section{
		{Name: "Conversation", Body: "### 1 · #1\n" + mark.Quote("", hostile) + "### Files `</h3>`\n- edited `<script>` " + mark.New(one, "output, "+mark.Inline(hostile, 60)) + "\n"},
		{Name: "Recent", Body: "#2 assistant\n" + mark.Quote("", "\n\nblank lines above, long below\n"+strings.Repeat("x", 4500)) + "\n- again " + mark.New(one, "") + ", " + mark.New(two, "range #1-#3") + " [ccd nothing]\n"},
	})
	p, err := sidecar.Parse(doc.Text)
	testkit.Must(t, err)
	p.Fields["rules"] = "1" // any version
	return p
}

func known() []transcript.Pointer {
	id := func(id mark.ID) mark.Hash {
		key, _, err := mark.PrefixRange(string(id))
		if err != nil {
			panic(err)
		}
		var h mark.Hash
		for i := range 8 {
			h[i] = byte(key >> (56 - 8*i))
		}
		return h
	}
	return []transcript.Pointer{
		{Hash: id(two), Shape: transcript.Lines, Parts: []transcript.Part{{}}, Record: 1, Last: 3, Note: "range"},
		{Hash: id(one), Parts: []transcript.Part{{Kind: transcript.Result}}, Record: 2, Last: 2, Note: "</table><script>"},
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := "testdata/" + name
	if *update {
		testkit.Must(t, os.WriteFile(path, got, 0o644))
	}
	want := testkit.Read(t, path)
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s is another, see go test ./internal/form -args -update (-want +got):\n%s", path, diff)
	}
}

func TestJSON(t *testing.T) {
	d, err := JSON(attacked(t), known())
	testkit.Must(t, err)
	text, err := json.MarshalIndent(d, "", "  ")
	testkit.Must(t, err)
	golden(t, "companion.json", append(text, '\n'))
	p := attacked(t)
	for i, s := range d.Sections {
		if s.Name != p.Sections[i].Name || s.Body != p.Sections[i].Body {
			t.Errorf("section %d is another", i)
		}
	}
	p.Fields["covers"] = "none"
	if _, err := JSON(p, nil); err == nil {
		t.Error("a broken front matter passes")
	}
	if d, err := JSON(attacked(t), nil); err != nil || len(d.Pointers) != 2 || d.Pointers[0].ID != one || d.Pointers[0].Record != 0 {
		t.Errorf("nothing known of the IDs: %+v, %v", d.Pointers, err)
	}
}
