package transcript

import (
	"fmt"
	"strings"
	"testing"
)

// TestDecoderAtRestHoldsNothing: between segments a decoder holds no bytes of the last one, and little of its own.
func TestDecoderAtRestHoldsNothing(t *testing.T) {
	d := NewDecoder(Format{Parse: parseMessage}, Main)
	line := `{"role":"user","content":[` + strings.Repeat(`{"type":"text","text":"x"},`, 1000) + `""]}` + "\n"
	for range d.Records(Segment{Data: []byte(line + line[:len(line)/2])}) {
	}
	for range d.Records(Segment{Data: []byte(line[len(line)/2:])}) {
	}
	if d.rec.Raw != nil || cap(d.items) > keepItems || cap(d.part) > keepLine {
		t.Errorf("kept: a record of %d bytes, %d items, %d bytes of a line", len(d.rec.Raw), cap(d.items), cap(d.part))
	}
	for _, i := range d.items[:cap(d.items)] {
		if i.Raw != nil {
			t.Errorf("an item still holds %d bytes", len(i.Raw))
		}
	}
}

func TestPreservedSegment(t *testing.T) {
	d := NewDecoder(Format{}, Main)
	for i := range maxRecent + 50 {
		d.RememberUUID(&Record{UUID: fmt.Sprint("u", i)})
	}
	last := fmt.Sprint("u", maxRecent+49)
	if got := d.UUIDsBetween(fmt.Sprint("u", maxRecent+47), last); len(got) != 3 || got[2] != last {
		t.Errorf("between = %v", got)
	}
	if got := d.UUIDsBetween("u1", last); len(got) != 2 {
		t.Errorf("too far back: %v", got)
	}
}

func TestCallsAreForgotten(t *testing.T) {
	d := NewDecoder(Format{}, Main)
	for i := range 3 * maxRecent {
		d.RememberTool(fmt.Sprint("call", i), fmt.Sprint("tool", i))
	}
	last := fmt.Sprint("call", 3*maxRecent-1)
	d.RememberTool(last, "again")
	if n := len(d.tools.now) + len(d.tools.before); n < maxRecent || n > 2*maxRecent {
		t.Errorf("%d calls kept, want %d to twice as many", n, maxRecent)
	}
	if got := d.ToolOf("call0"); got != "" {
		t.Errorf("the first call is still known: %q", got)
	}
	if got := d.ToolOf(last); got != "again" {
		t.Errorf("the last call's tool = %q", got)
	}
}
