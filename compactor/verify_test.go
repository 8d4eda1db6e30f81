package compactor

import (
	"strings"
	"testing"

	"ccd/internal/agent/registry"
	"ccd/internal/session"
	"ccd/internal/transcript"
)

// TestVerifySeesFaults: a text whose claims its records do not prove is not verified.
func TestVerifySeesFaults(t *testing.T) {
	data := []byte(`{"type":"user","uuid":"u1","sessionId":"s","cwd":"/w","gitBranch":"main","message":{"role":"user","content":"Please count the rows of each region and print the totals below"}}` + "\n")
	c := New(Defaults(), transcript.Session{Key: transcript.Key{Agent: "claude-code", ID: "s"}})
	for r := range (registry.Table{}).NewDecoder("claude-code", transcript.Main).Records(transcript.Segment{Data: data, Rest: true}) {
		c.Add(r)
	}
	ask := c.Events[0].Ref
	for name, fault := range map[string]func(d *draft, body *string){
		"":                                func(*draft, *string) {},
		"record #1 does not say":          func(d *draft, _ *string) { d.claims = append(d.claims, claim{ask, "delete the rows"}) },
		"an ID has no pointer":            func(_ *draft, body *string) { *body += "[ccd 0123456789ab cut]\n" },
		"a line is too long":              func(_ *draft, body *string) { *body += strings.Repeat("x", 2001) + "\n" },
		"over the budget":                 func(d *draft, _ *string) { d.reader.room = 10 },
		"the task is not in the text":     func(_ *draft, body *string) { *body = "State: at work.\n" },
		"or more than 1900 lines":         func(_ *draft, body *string) { *body += strings.Repeat("x\n", 1901) },
		"record #1 does not say what the": func(d *draft, _ *string) { d.claims[0] = claim{session.Ref(ask), "Please count the columns"} },
	} {
		d := c.draft(reader{room: 9000}, func(at transcript.Span) ([]byte, error) { return data[at.Off:at.End()], nil }, nil)
		made, err := d.made()
		if err != nil || !made.Header.Verified {
			t.Fatalf("%v, %s", err, made.Header.Reason)
		}
		body := made.Sections[0].Body
		fault(d, &body)
		d.verify(made, body)
		if h := made.Header; h.Verified != (name == "") || !strings.Contains(h.Reason, name) {
			t.Errorf("%q: verified %t, %q", name, h.Verified, h.Reason)
		}
	}
}
