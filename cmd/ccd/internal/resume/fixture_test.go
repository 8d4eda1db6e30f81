package resume

import (
	"bytes"
	"iter"
	"testing"
	"time"

	"ccd/compactor"
	"ccd/internal/agent/registry"
	"ccd/internal/testkit"
	"ccd/internal/testkit/gen"
	"ccd/internal/transcript"
)

const newID = "00000000-0000-4000-8000-000000000001"

// sourceOf returns a session made of a transcript's bytes.
func sourceOf(agent string, data []byte) Source {
	s := transcript.Session{
		Key:    transcript.Key{Agent: agent, ID: "11111111-1111-4111-8111-111111111111"},
		Source: "projects/-home-me-ledger/11111111-1111-4111-8111-111111111111.jsonl",
	}
	o := compactor.Defaults()
	o.Host = "host"
	return Source{
		Session: s, Options: o,
		Records: func(yield func(*transcript.Record, error) bool) {
			d := registry.Table{}.NewDecoder(agent, transcript.Main)
			for r := range d.Records(transcript.Segment{Start: transcript.Cursor{Generation: 1}, Data: data, Rest: true}) {
				if !yield(r, nil) {
					return
				}
			}
		},
		Text: func(span transcript.Span) ([]byte, error) { return data[span.Off:span.End()], nil },
	}
}

func generated(t testing.TB, agent string, seed uint64, size int64) []byte {
	t.Helper()
	var b bytes.Buffer
	testkit.Must(t, gen.Write(&b, agent, seed, size))
	return b.Bytes()
}

func makeCopy(t testing.TB, src Source, to string, tokens int) (Copy, error) {
	t.Helper()
	c, err := Make(src, Request{Agent: to, ID: newID, MaxTokens: tokens, Now: time.Unix(1_800_000_000, 0)})
	if err == nil {
		err = check(to, c.Lines)
	}
	return c, err
}

// decoded decodes the lines of a copy.
func decoded(agent string, lines [][]byte) iter.Seq[*transcript.Record] {
	d := registry.Table{}.NewDecoder(agent, transcript.Main)
	return d.Records(transcript.Segment{Start: transcript.Cursor{Generation: 1}, Data: append(bytes.Join(lines, []byte("\n")), '\n')})
}

// shown counts the characters that the model sees of a copy.
func shown(agent string, lines [][]byte) (chars int) {
	for r := range decoded(agent, lines) {
		for _, it := range r.Items {
			if it.Kind != transcript.Image {
				chars += transcript.Chars(it.Raw)
			}
		}
	}
	return chars
}

func date(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return t
}
