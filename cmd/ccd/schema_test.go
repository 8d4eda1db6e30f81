package main

import (
	"context"
	"errors"
	"os"
	"reflect"
	"regexp"

	"github.com/rogpeppe/go-internal/testscript"
	bolt "go.etcd.io/bbolt"

	"ccd/archive"
	"ccd/daemon"
)

// cmdSchema makes an archive one of another schema, which has other buckets: `schema ARCHIVE N`.
func cmdSchema(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: schema ARCHIVE N")
	}
	db, err := bolt.Open(ts.MkAbs(args[0]), 0o600, nil)
	ts.Check(err)
	err = db.Update(func(tx *bolt.Tx) error {
		return errors.Join(tx.DeleteBucket([]byte("blocks")), tx.Bucket([]byte("meta")).Put([]byte("schema"), []byte(args[1])))
	})
	ts.Check(errors.Join(err, db.Close()))
}

// cmdOlder changes a companion, and the archive's notes of all companions, to what a ccd with version 1 of the rules
// wrote: `older ARCHIVE COMPANION`.
func cmdOlder(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: older ARCHIVE COMPANION")
	}
	path := ts.MkAbs(args[1])
	info, err := os.Stat(path)
	ts.Check(err)
	text := regexp.MustCompile(`(?m)^rules: \d+$`).ReplaceAllString(ts.ReadFile(args[1]), "rules: 1")
	ts.Check(os.WriteFile(path, []byte(text), 0o600))
	ts.Check(os.Chtimes(path, info.ModTime(), info.ModTime()))
	n, err := restate(ts.MkAbs(args[0]), func(s *daemon.State) {
		if s.Options != "" {
			s.Options = "0123456789abcdef"
		}
	})
	ts.Check(err)
	if n == 0 {
		ts.Fatalf("no state says with which options its companion was made")
	}
}

// restate changes the archive's session states, and returns how many differ.
func restate(file string, change func(*daemon.State)) (n int, err error) {
	a, err := archive.Open(file, archive.Options{})
	if err != nil {
		return 0, err
	}
	ctx := context.Background()
	sessions, err := a.Sessions(ctx)
	if err != nil {
		return 0, err
	}
	var changes []archive.Change
	for _, session := range sessions {
		s, err := daemon.DecodeState(session.State)
		if err != nil {
			return 0, err
		}
		was := s
		if change(&s); !reflect.DeepEqual(s, was) {
			n++
		}
		changes = append(changes, archive.Change{Session: session.Session, Old: session.State, New: s.Encode()})
	}
	_, err = a.Save(ctx, nil, changes)
	return n, err
}
