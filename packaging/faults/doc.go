// Package faults lists the faults that ccd survives and the tests that check it. It runs them for `make faults` and writes
// docs/RELIABILITY.md. It contains tests only.
package faults
