// Package agenttest decodes transcripts in the tests of the agents' packages.
package agenttest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ccd/internal/transcript"
)

// Records decodes data as a complete transcript and returns copies of its records. It reports an error if the span of an
// item does not contain the item.
func Records(t testing.TB, row transcript.Format, class transcript.Class, data string) (all []transcript.Record) {
	t.Helper()
	seg := transcript.Segment{Start: transcript.Cursor{Generation: 1}, Data: []byte(data), Rest: true}
	for r := range transcript.NewDecoder(row, class).Records(seg) {
		c := *r
		c.Items, c.Raw = slices.Clone(r.Items), slices.Clone(r.Raw)
		if r.Usage != nil {
			u := *r.Usage
			c.Usage = &u
		}
		if r.Boundary != nil {
			b := *r.Boundary
			c.Boundary = &b
		}
		all = append(all, c)
		for _, it := range r.Items {
			if got := data[it.Span.Off:it.Span.End()]; got != string(it.Raw) {
				t.Errorf("record %d: the span has %s, the item %s", r.N, got, it.Raw)
			}
		}
	}
	return all
}

// Kinds returns the kinds of a record's items, separated by spaces.
func Kinds(r transcript.Record) string {
	var kinds []string
	for _, it := range r.Items {
		kinds = append(kinds, it.Kind.String())
	}
	return strings.Join(kinds, " ")
}

// Want reports an error if the items of a record are not the given ones, each as its kind, text or value, the call's tool
// and ID, and "failed" or "refused".
func Want(t testing.TB, r transcript.Record, items ...string) {
	t.Helper()
	var all []string
	for i := range r.Items {
		it := &r.Items[i]
		one := it.Kind.String() + " " + string(transcript.Original(it.Kind, it.Raw))
		if it.Call != "" {
			one += " " + it.Tool + "#" + it.Call
		}
		if it.Failed {
			one += " failed"
		}
		if it.Refused {
			one += " refused"
		}
		all = append(all, one)
	}
	if !slices.Equal(all, items) {
		t.Errorf("record %d: got\n%s\nwant\n%s", r.N, strings.Join(all, "\n"), strings.Join(items, "\n"))
	}
}

// Show returns a record in one line: its type, what is special about it, and its items with kind, tool, call ID and value.
func Show(r *transcript.Record) string {
	s := r.Type
	for _, f := range []struct {
		on   bool
		name string
	}{
		{r.UI, " ui"}, {r.Unknown, " unknown"}, {r.Broken, " broken"}, {r.Boundary != nil, " boundary"}, {r.Back > 0, fmt.Sprint(" back ", r.Back)},
	} {
		if f.on {
			s += f.name
		}
	}
	for _, it := range r.Items {
		s += " " + it.Kind.String()
		if it.Side {
			s += " side"
		}
		if it.Tool != "" {
			s += " " + it.Tool + " " + it.Call
		}
		if it.Failed {
			s += " failed"
		}
		s += " " + string(it.Raw)
	}
	return s
}
