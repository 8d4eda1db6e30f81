//go:build race

package compactor

const raceEnabled = true
