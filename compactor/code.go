package compactor

import (
	"ccd/internal/mark"
)

// code is a piece of the transcript as inline code of a line of ours.
func code(s string, most int) string { return "`" + mark.Inline(s, most) + "`" }
