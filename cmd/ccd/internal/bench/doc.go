// Package bench measures the binary and the packages as a whole: one pass over all transcripts, a session that grows, a search, a
// single large session. The method of each figure stands in docs/PERFORMANCE.md. It holds tests only.
package bench
