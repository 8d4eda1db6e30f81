package archive

import (
	"testing"

	"ccd/internal/transcript"
)

// What a session's record holds comes back, also names that need not be UTF-8, and a path of another place.
func TestSessionRecords(t *testing.T) {
	t.Parallel()
	a := open(t)
	for _, s := range []transcript.Session{
		{Path: "/home/ann/.claude/projects/-tmp/1.jsonl", Root: "/home/ann/.claude/projects", Source: "projects/-tmp/1.jsonl"},
		{Path: "/a\xff/b.jsonl.zst", Root: "/a\xff", Source: "elsewhere\xfe", Packed: true, Class: transcript.Attachment, Parent: "p\xfd"},
		{Path: "", Root: "/gone", Source: ""},
		{Path: "/x/x", Root: "/x", Source: "/x"},
	} {
		s.Key = transcript.Key{Agent: "claude-code", ID: "s" + s.Path}
		if _, err := a.Save(t.Context(), nil, []Change{{Session: s, New: []byte("state")}}); err != nil {
			t.Fatal(err)
		}
		if got, err := a.Session(t.Context(), s.Key); got.Session != s || err != nil {
			t.Errorf("stored %+v, read %+v, %v", s, got.Session, err)
		}
	}
}

func FuzzSession(f *testing.F) {
	f.Add(sessionRecord{transcript.Session{Path: "/home/ann/p/x", Root: "/home/ann", Source: "p/x"}, 2}.encode())
	f.Fuzz(func(t *testing.T, record []byte) {
		var r, again sessionRecord
		if r.decode(record) != nil {
			return
		}
		if err := again.decode(r.encode()); again != r || err != nil {
			t.Fatalf("%+v became %+v, %v", r, again, err)
		}
	})
}
