# The checks themselves stand in .ci/run; here are their short names.
.PHONY: check test race fuzz bench golden build

VERSION ?= $(shell git describe --tags 2>/dev/null)
T ?= 30s

check:
	.ci/run fmt vet staticcheck tidy test

test:
	go test ./...

race:
	go test -race -count=1 ./...

# Every fuzz target of every package, T each.
fuzz:
	@go list ./... | while read -r pkg; do \
		go test -list '^Fuzz' $$pkg | grep '^Fuzz' | while read -r f; do \
			echo "$$pkg $$f"; go test $$pkg -run '^$$' -fuzz "^$$f$$" -fuzztime $(T) || exit 1; \
		done || exit 1; \
	done

# run --once over BYTES of invented transcripts against bare zstd of the same bytes: docs/PERFORMANCE.md.
BYTES ?= 1GB
bench:
	CCD_BENCH_BYTES=$(BYTES) go test -run '^$$' -bench '^BenchmarkOnce$$' -benchtime 1x -count 1 -timeout 30m -v .

# The golden files, written anew; read the difference before you commit it.
golden:
	@for pkg in $$(go list ./...); do \
		if grep -qs '"update"' $$(go list -f '{{$$d := .Dir}}{{range .TestGoFiles}}{{$$d}}/{{.}} {{end}}{{range .XTestGoFiles}}{{$$d}}/{{.}} {{end}}' $$pkg); then \
			go test $$pkg -args -update || exit 1; \
		fi; \
	done

build:
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w -X main.release=$(VERSION)' -o ccd ./cmd/ccd
