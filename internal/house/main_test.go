package house

import (
	"fmt"
	"os"
	"testing"
)

// TestMain runs the tests in the top directory of the module: paths in rules and findings are relative to it.
func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
