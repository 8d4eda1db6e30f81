// Command ccd-remote keeps an encrypted copy of an archive in object storage. `ccd remote` runs it: ccd itself has no
// network client, so that its binary, its memory and its sandbox stay small.
// This package has the S3 client, the settings, and what the verbs print; internal/remote does the work.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"filippo.io/age"
	"github.com/minio/minio-go/v7"
	"github.com/spf13/pflag"

	"ccd/archive"
	"ccd/internal/mark"
	"ccd/internal/remote"
	"ccd/internal/remote/pulled"
	"ccd/internal/words"
)

// release is set by packaging/dist.
var release string

// app is one call.
type app struct {
	out, err io.Writer
	dir      string // of the copy's state
	archive  string
	host     string
	minFree  int64
	patience
	json  bool
	quiet bool

	pulled.Flags
	given func(flag string) bool // on the command line
}

var (
	errSaid    = errors.New("damage found") // and reported
	errUnknown = errors.New("not found")
)

func usagef(format string, args ...any) error {
	return words.Hint(words.Usage(fmt.Errorf(format, args...)), "ccd help remote")
}

func main() {
	minio.DefaultRetryUnit, minio.DefaultRetryCap = time.Second/2, 30*time.Second // about a minute in all
	os.Exit(start(patience{8, 30 * time.Second}))
}

// start runs the command line and returns the exit code.
func start(p patience) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	a := &app{out: os.Stdout, err: os.Stderr, patience: p}
	err := a.run(ctx, os.Args[1:])
	return a.report(err, ctx.Err() != nil && err != nil)
}

// report prints an error and returns the exit code.
func (a *app) report(err error, interrupted bool) int {
	code := exitCode(err)
	if interrupted {
		code = words.ExitInterrupted
	}
	if code == words.ExitDone || code == words.ExitInterrupted {
		return code
	}
	if !errors.Is(err, errSaid) {
		fmt.Fprint(a.err, mark.Visible("ccd: "+strings.ReplaceAll(err.Error(), "\n", "\nccd: ")+"\n")) // a line for each machine
	}
	if hint := a.hint(err); hint != "" {
		fmt.Fprintf(a.err, "hint: %s\n", hint)
	}
	return code
}

// exitCode returns the exit code of an error.
func exitCode(err error) int {
	switch {
	case err == nil:
		return words.ExitDone
	case errors.As(err, new(words.UsageError)):
		return words.ExitUsage
	case errors.Is(err, errUnknown):
		return words.ExitNotFound
	case errors.Is(err, errSaid), errors.Is(err, remote.ErrBadCopy), errors.As(err, new(*archive.DamageError)):
		return words.ExitDamage
	}
	return words.ExitFailed
}

// lost is what ends the errors of a store that has lost data, for readers too.
const lost = "if the store has lost data, ccd remote remove, add and push, on the machine that it is of, push everything again"

// hint returns what to do about an error.
func (a *app) hint(err error) string {
	switch {
	case words.HintOf(err) != "":
		return words.HintOf(err)
	case errors.Is(err, remote.ErrKey):
		return "ccd remote pull --identity FILE; after a change of keys, the machine runs ccd remote gc --all"
	case errors.Is(err, remote.ErrNoConditions):
		return "use a store, or a version of it, that has conditional writes"
	case errors.Is(err, remote.ErrDenied):
		return "check the credentials (environment, ~/.aws/credentials) and what they allow: s3:GetObject, s3:PutObject, s3:ListBucket"
	case errors.Is(err, remote.ErrBusy):
		return "try again later; nothing is lost"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, archive.ErrFull):
		return "free space on the disk of " + a.dir + "; then the command continues where it was"
	case errors.Is(err, remote.ErrRunning):
		return "try again when it has ended"
	case errors.Is(err, remote.ErrBadCopy):
		return "ccd remote check; " + lost
	}
	return ""
}

func (a *app) run(ctx context.Context, args []string) error {
	f := pflag.NewFlagSet("ccd-remote", pflag.ContinueOnError)
	a.given = f.Changed
	f.SetOutput(io.Discard)
	f.StringVar(&a.dir, "state", "", "")
	f.StringVar(&a.archive, "archive", "", "")
	f.StringVar(&a.host, "host", "", "")
	f.Int64Var(&a.minFree, "min-free", 0, "")
	f.BoolVar(&a.json, "json", false, "")
	f.BoolVar(&a.quiet, "quiet", false, "")
	a.Add(f)
	if err := f.Parse(args); err != nil {
		return usagef("parse command line: %w", err)
	}
	if f.Arg(0) == "version" { // for ccd doctor
		_, err := fmt.Fprintln(a.out, words.Version(release))
		return err
	}
	if a.dir == "" || a.archive == "" {
		return words.Hint(words.Usage(errors.New("ccd-remote is run by ccd")), "ccd remote")
	}
	verbs := map[string]struct {
		most int // arguments
		do   func(context.Context, []string) error
	}{
		"add": {1, a.add}, "keys": {0, a.keys}, "push": {0, a.push}, "pull": {0, a.pull}, "status": {0, a.status},
		"check": {0, a.check}, "gc": {0, a.gc}, "remove": {0, a.remove},
	}
	verb, ok := verbs[f.Arg(0)]
	if !ok {
		return usagef("parse command line: expected add, keys, push, pull, status, check, gc or remove, got %q", f.Arg(0))
	}
	if f.NArg()-1 > verb.most {
		return usagef("parse command line: ccd remote %s takes no %q", f.Arg(0), f.Arg(f.NArg()-1))
	}
	if err := os.MkdirAll(a.dir, 0o700); err != nil {
		return fmt.Errorf("open state directory: %w", err)
	}
	return verb.do(ctx, f.Args()[1:])
}

// say prints a message on stderr.
func (a *app) say(format string, args ...any) {
	if !a.quiet {
		fmt.Fprint(a.err, mark.Visible(fmt.Sprintf(format+"\n", args...)))
	}
}

// print prints a result: a line for people, or JSON.
func (a *app) print(v any, format string, args ...any) error {
	var err error
	if a.json {
		e := json.NewEncoder(a.out)
		e.SetIndent("", "  ")
		err = e.Encode(v)
	} else {
		_, err = fmt.Fprint(a.out, mark.Visible(fmt.Sprintf(format+"\n", args...)))
	}
	if err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}

// done prints what was done; with --quiet only as JSON, so that cron has nothing to mail.
func (a *app) done(v any, format string, args ...any) error {
	if a.quiet && !a.json {
		return nil
	}
	return a.print(v, format, args...)
}

func (a *app) path(name string) string { return filepath.Join(a.dir, name) }

// open returns the settings and the store.
func (a *app) open() (pulled.Settings, remote.Store, error) {
	s, err := a.settings()
	if err != nil {
		return s, nil, err
	}
	b, err := openBucket(s, a.patience)
	return s, b, err
}

// openMachine opens this machine's copy.
func (a *app) openMachine(s pulled.Settings, store remote.Store, wait time.Duration) (*remote.Machine, error) {
	recipients, err := parseRecipients(s.Recipients)
	if err != nil {
		return nil, err
	}
	file, err := archive.Open(a.archive, archive.Options{ReadOnly: true})
	if err != nil {
		return nil, fmt.Errorf("open archive: %w", err)
	}
	return remote.OpenMachine(remote.Options{
		Dir: a.dir, Archive: file, Store: store, Recipients: recipients, Names: s.Recipients, Label: a.host, Say: a.say, Wait: wait,
	})
}

// openReader opens the copies of other machines.
func (a *app) openReader(store remote.Store) (*remote.Reader, error) {
	identities, err := a.identities()
	if err != nil {
		return nil, err
	}
	return remote.OpenReader(remote.ReaderOptions{
		Dir: a.machines(), Store: store, Identities: identities, Archive: archive.Options{MinFree: a.minFree},
	})
}

// machines is the directory with the archives of machines.
func (a *app) machines() string { return pulled.Machines(filepath.Dir(a.dir)) }

func parseRecipients(names []string) (all []age.Recipient, err error) {
	for _, name := range names {
		parsed, err := age.ParseRecipients(lines(name))
		if err != nil {
			return nil, usagef("read recipient %q: %w", name, err)
		}
		all = append(all, parsed...)
	}
	return all, nil
}
