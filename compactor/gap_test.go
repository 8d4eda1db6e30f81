package compactor

import (
	"fmt"
	"strings"
	"testing"
)

// A heading for many messages names those that its ID gives back; what stands before them is counted.
func TestHeadingOfManyMessages(t *testing.T) {
	s := newScript()
	for n := range 1500 {
		s.human(fmt.Sprintf("Request %d: %s", n, strings.Repeat("words ", 100)))
	}
	talk := told(t, s, tokensOf(8000)).section("Conversation")
	i := strings.Index(talk, " [ccd ")
	if i < 0 || !strings.Contains(talk, "range of 512 messages]") {
		t.Fatalf("no range of messages: %.400s", talk)
	}
	line := talk[strings.LastIndexByte(talk[:i], '\n')+1 : i]
	var first, last, from, to int
	if _, err := fmt.Sscanf(line[strings.Index(line, "### "):], "### %d-%d · #%d-#%d", &first, &last, &from, &to); err != nil || last-first != 511 || to-from != 511 {
		t.Errorf("%q: %v", line, err)
	}
	if !strings.Contains(talk, " messages, under the ranges below\n") {
		t.Errorf("the others are not counted: %.400s", talk)
	}
}
