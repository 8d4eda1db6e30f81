// Package bench measures the binary and the packages as a whole: goals with a figure for each, the cost of every operation over
// sizes and numbers, a search, a single large session. The method of each figure stands in docs/PERFORMANCE.md. It holds tests only,
// of the build tag rig.
package bench
