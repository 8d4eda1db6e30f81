// Package bench measures the binary and the packages as a whole: goals with a figure for each, the cost of every operation
// over sizes and numbers, a search, a single large session. docs/PERFORMANCE.md has figures. It contains tests only, with the
// build tag rig.
package bench
