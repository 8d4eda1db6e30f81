package scorecard

import (
	"regexp"
	"sync"
)

// lazy compiles a pattern at its first use. The package is part of ccd's binary, and only `ccd score` grades: every
// other process, the daemon first, would pay for these patterns at its start.
func lazy(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
