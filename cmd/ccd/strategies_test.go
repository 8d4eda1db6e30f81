package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ccd/compactor"
	"ccd/internal/config"
)

// The configuration knows the strategies by name, the compactor by what they do: neither imports the other.
func TestEveryStrategyCanBeSwitchedOffInTheConfiguration(t *testing.T) {
	if diff := cmp.Diff(compactor.Strategies(), config.Strategies()); diff != "" {
		t.Error(diff)
	}
}
