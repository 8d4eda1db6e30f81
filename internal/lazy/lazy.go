// Package lazy compiles regular expressions when they are first used: a command needs few of them, and compiling all takes longer
// than most commands.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp returns a function that returns the regular expression of a text. It panics if that is invalid.
func Regexp(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
