// Command mk writes a home directory of invented transcripts, for benchmarks and manual tests:
//
//	go run ./internal/testkit/gen/mk -bytes 1GB -seed 1 DIR
//
// or one transcript of one agent to stdout:
//
//	go run ./internal/testkit/gen/mk -bytes 50MB -session claude-code > FILE.jsonl
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/dustin/go-humanize"

	"ccd/internal/testkit/gen"
)

func main() {
	size := flag.String("bytes", "100MB", "how much, such as 1GB")
	seed := flag.Uint64("seed", 1, "the same seed gives the same files")
	agent := flag.String("session", "", "one transcript of this `agent` to stdout, instead of a home")
	flag.Parse()
	if err := run(flag.Arg(0), *agent, *seed, *size); err != nil {
		fmt.Fprintln(os.Stderr, "mk:", err)
		os.Exit(1)
	}
}

func run(dir, agent string, seed uint64, size string) error {
	n, err := humanize.ParseBytes(size)
	if err != nil {
		return err
	}
	if agent != "" {
		return gen.Write(os.Stdout, agent, seed, int64(n))
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return gen.Tree(dir, seed, int64(n))
}
