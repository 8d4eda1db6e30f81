// Package testkit says how deep a test goes. `go test ./...` runs a sample of every long matrix, CCD_TESTS=4 one of four
// times its size; CCD_TESTS=full runs all of it.
package testkit

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// Full reports whether CCD_TESTS=full asks for whole matrices.
func Full() bool { return os.Getenv("CCD_TESTS") == "full" }

// Cases returns quick, times the number in CCD_TESTS, or full under CCD_TESTS=full: how many rounds, seeds or sizes a test tries.
func Cases(t testing.TB, quick, full int) int {
	t.Helper()
	if quick *= times(); Full() || quick >= full {
		return full
	}
	t.Logf("%d of %d cases (CCD_TESTS=full runs all)", quick, full)
	return quick
}

// times is the number in CCD_TESTS, 1 if there is none.
func times() int {
	n, err := strconv.Atoi(os.Getenv("CCD_TESTS"))
	if err != nil {
		return 1
	}
	return max(n, 1)
}

// Seed is CCD_SEED, or 1: another seed has the tests that choose at random choose otherwise.
func Seed() uint64 {
	seed, err := strconv.ParseUint(os.Getenv("CCD_SEED"), 10, 64)
	if err != nil {
		return 1
	}
	return seed
}

// Sample returns as many of all cases, in their order, as Cases says. The choice depends on the name
// of the test and on CCD_SEED (default 1), which it logs, so a failure can be repeated.
func Sample[T any](t testing.TB, all []T, quick int) []T {
	t.Helper()
	if quick *= times(); Full() || quick >= len(all) {
		return all
	}
	seed := Seed()
	t.Logf("%d of %d cases, CCD_SEED=%d (CCD_TESTS=full runs all)", quick, len(all), seed)
	name := fnv.New64a()
	name.Write([]byte(t.Name()))
	r := rand.New(rand.NewPCG(seed, name.Sum64()))
	var chosen []T
	for i, c := range all { // each case is taken with the probability that fills the sample exactly
		if r.IntN(len(all)-i) < quick-len(chosen) {
			chosen = append(chosen, c)
		}
	}
	return chosen
}

// Long skips a test that only CCD_TESTS=full runs, and says what it does there.
func Long(t testing.TB, what string) {
	t.Helper()
	if !Full() {
		t.Skip("only with CCD_TESTS=full: " + what)
	}
}

// InMemory runs a package's tests with their temporary directories on a file system in memory, where there is one. Call it
// from TestMain of a package whose tests do not depend on durability.
func InMemory() {
	const shm = "/dev/shm"
	if os.Getenv("TMPDIR") != "" {
		return
	}
	if dir, err := os.MkdirTemp(shm, "ccd-test-"); err == nil {
		os.Remove(dir)
		os.Setenv("TMPDIR", shm)
	}
}

// Numbers returns quick of the numbers from 0 to n-1, as Sample chooses them.
func Numbers(t testing.TB, n, quick int) []int {
	t.Helper()
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return Sample(t, all, quick)
}

// Damages are the ways in which an archive's file is damaged, each at a random place.
var Damages = map[string]func(r *rand.Rand, file []byte) []byte{
	"flips": func(r *rand.Rand, file []byte) []byte {
		for range 1 + r.IntN(8) {
			file[r.IntN(len(file))] ^= 1 << r.IntN(8)
		}
		return file
	},
	"zeroed": func(r *rand.Rand, file []byte) []byte {
		from := r.IntN(len(file)) &^ 4095
		clear(file[from:min(len(file), from+(1+r.IntN(20))<<12)])
		return file
	},
	"misplaced": func(r *rand.Rand, file []byte) []byte {
		n := len(file) / 4096
		copy(file[r.IntN(n)<<12:], file[r.IntN(n)<<12:][:min(4096<<r.IntN(4), 4096)])
		return file
	},
	"truncated": func(r *rand.Rand, file []byte) []byte { return file[:r.IntN(len(file))] },
	"page heads": func(r *rand.Rand, file []byte) []byte {
		for range 1 + r.IntN(4) {
			at := r.IntN(len(file)/4096) << 12
			file[at+r.IntN(16)] = byte(r.Uint32())
		}
		return file
	},
	"no tree": func(r *rand.Rand, file []byte) []byte { // neither meta pages nor branches
		clear(file[:8192])
		for at := 8192; at+4096 <= len(file); at += 4096 {
			if binary.NativeEndian.Uint16(file[at+8:]) == 1 && r.IntN(2) == 0 {
				clear(file[at:][:4096])
			}
		}
		return file
	},
}

// Eventually waits until cond holds, at most a minute.
func Eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-ctx.Done():
			t.Fatalf("%s: not within a minute", what)
		case <-tick.C:
		}
	}
}

// Must ends the test if err is not nil.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Read returns what is in a file.
func Read(t testing.TB, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	Must(t, err)
	return text
}

// Put writes a file that only its owner may read, and makes its directory.
func Put(t testing.TB, path, text string) {
	t.Helper()
	Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	Must(t, os.WriteFile(path, []byte(text), 0o600))
}

// Append appends to a file as a client does, which has it open no longer, and makes its directory.
func Append(t testing.TB, path, text string) {
	t.Helper()
	Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	Must(t, err)
	_, err = f.WriteString(text)
	Must(t, errors.Join(err, f.Close()))
}
