# The checks themselves stand in .ci/run; here are their short names.
.PHONY: check test test-full flaky race clients browser remote remote-check remote-radosgw systemd fuzz bench ablation recall rewrites redact-rules redact-check picture web-pictures golden canaries build install dist dist-check

VERSION ?= $(shell git describe --tags 2>/dev/null)
T ?= 30s

check:
	CCD_TESTS=quick .ci/run fmt vet staticcheck tidy test

test:
	go test ./...

# The whole of every matrix of which `make test` takes a sample.
test-full:
	CCD_TESTS=full go test -count=1 -timeout 20m ./...

# The quick suite RUNS times, each time with another sample, on cores that have other work: which tests failed, and how often.
RUNS ?= 20
flaky:
	.ci/flaky $(RUNS)

race:
	.ci/run race

# The real agents, offline, against a model that follows a script; CCD_CLIENTS is the directory they are installed in.
clients:
	cmd/ccd/internal/clients/run

# ccd web in a real browser, which is installed if it is missing (root, Debian).
browser:
	cmd/ccd/internal/browser/run

# ccd remote with a real S3 server on loopback, which is installed if it is missing.
remote:
	cmd/ccd-remote/run

# The same tests with another S3 server: make remote-check ENDPOINT=https://s3.example.org BUCKET=test, with AWS_ACCESS_KEY_ID and
# AWS_SECRET_ACCESS_KEY. What they write stays below BUCKET/ccd-test-*. remote-radosgw starts Ceph's, from installed packages.
remote-check:
	CCD_S3_ENDPOINT=$(ENDPOINT) CCD_S3_BUCKET=$(BUCKET) cmd/ccd-remote/run

remote-radosgw:
	cmd/ccd-remote/radosgw

# A real systemd in a container (root, Linux): the package is installed there, and the service lives its whole life.
systemd:
	packaging/walk/run

# Invented secrets of every kind in every place of a transcript: none is in an output.
canaries:
	CCD_TESTS=full go test ./cmd/ccd -run '^TestCanaries$$' -count=1 -v -timeout 30m

# Every fuzz target of every package, T each.
fuzz:
	@go list ./... | while read -r pkg; do \
		go test -list '^Fuzz' $$pkg | grep '^Fuzz' | while read -r f; do \
			echo "$$pkg $$f"; go test $$pkg -run '^$$' -fuzz "^$$f$$" -fuzztime $(T) || exit 1; \
		done || exit 1; \
	done

# ccd against zstd, and its search against ripgrep or grep, over BYTES of invented transcripts, as ratios: about 10 minutes.
BYTES ?= 200MB
bench:
	CCD_BENCH_BYTES=$(BYTES) go test -tags rig -run '^$$' -bench . -benchtime 1x -count 1 -timeout 60m -v ./cmd/ccd/internal/bench

# The tests that docs/RELIABILITY.md names, in full: about 10 minutes; some need root on Linux.
faults:
	CCD_TESTS=full go test -timeout 60m -run "^($$(grep -o '`Test[A-Za-z0-9]*`' docs/RELIABILITY.md | tr -d '`' | sort -u | paste -s -d '|' -))$$" ./...

# A session that is one JSON value, on one line and on many, written anew at each change: what the archive takes for it.
rewrites:
	CCD_TESTS=full go test ./daemon -run TestRewrittenSessionsCostWhatHasChanged -count 1 -timeout 30m -v

# What the recall of a companion loses without each row of the table and each term of the formula: a table for docs/PERFORMANCE.md.
ablation:
	go test -tags rig ./compactor -run '^TestAblation$$' -count=1 -v

# How many of 72 questions about three published sessions are answered by companions and by the agent's summaries: the table of
# README.md. docs/PERFORMANCE.md says how to get the sessions, into a directory that SESSIONS names.
recall:
	go test -tags rig ./compactor ./cmd/ccd -run '^TestRecall' -count=1 -v

# The rules that find secrets, from a release of gitleaks.
GITLEAKS ?= v8.30.1
redact-rules:
	dir=$$(go mod download -json github.com/zricethezav/gitleaks/v8@$(GITLEAKS) | sed -n 's/^.*"Dir": "\(.*\)".*$$/\1/p') && \
	GITLEAKS_VERSION=$(GITLEAKS) GITLEAKS_RULES=$$dir/config/gitleaks.toml go test ./internal/redact -run GitleaksRules -count=1

# What the rules miss and what they change: of our own lists, code, gitleaks' examples, and the real transcripts of ../shared/corpus.
redact-check:
	GITLEAKS_DIR=$$(go mod download -json github.com/zricethezav/gitleaks/v8@$(GITLEAKS) | sed -n 's/^.*"Dir": "\(.*\)".*$$/\1/p') \
	go test ./internal/redact -run '^(TestRecall|TestShown|TestOthers|TestChanged|TestCode)$$' -count=1 -v

# docs/picture.svg and the before/after of README.md, from a real run in a temporary home.
picture:
	go test ./cmd/ccd -run DocsPicture -count 1 -args -update

# docs/web-*.png: the pages of ccd web with an invented home, as a browser shows them.
web-pictures:
	CCD_PICTURES=$(CURDIR)/docs cmd/ccd/internal/browser/run -run '^TestPictures$$'

# The golden files, written anew; read the difference before you commit it.
golden:
	@for pkg in $$(go list ./...); do \
		if grep -qs '"update"' $$(go list -f '{{$$d := .Dir}}{{range .TestGoFiles}}{{$$d}}/{{.}} {{end}}{{range .XTestGoFiles}}{{$$d}}/{{.}} {{end}}' $$pkg); then \
			go test $$pkg -args -update || exit 1; \
		fi; \
	done

build:
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w -X main.release=$(VERSION)' -o ccd ./cmd/ccd

# ccd and ccd-remote into PREFIX/bin: make install PREFIX=/usr/local.
PREFIX ?= $(HOME)/.local
install: # with the flags of go run, whose build it continues
	@echo 'building ccd and ccd-remote'
	@mkdir -p $(PREFIX)/bin
	@go build -ldflags '-s -w -X main.release=$(VERSION)' -o $(PREFIX)/bin/ ./cmd/ccd ./cmd/ccd-remote
	@case ":$$PATH:" in *:$(PREFIX)/bin:*) echo "next: ccd setup" ;; *) echo "add $(PREFIX)/bin to your PATH; next: $(PREFIX)/bin/ccd setup" ;; esac

# What is released, into dist/: make dist VERSION=1.2.3. dist-check makes it twice and compares the bytes.
dist:
	packaging/dist

dist-check:
	packaging/dist --check
