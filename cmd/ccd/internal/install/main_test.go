package install

import (
	"os"
	"testing"

	"ccd/internal/testkit"
)

func TestMain(m *testing.M) {
	testkit.InMemory()
	os.Exit(m.Run())
}
