package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	bolt "go.etcd.io/bbolt"
)

// cmdTurns checks that an API accepts a list of messages: roles alternate except for the answer to the compressed part,
// and each call is with its result: `turns FILE`.
func cmdTurns(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: turns FILE")
	}
	var all []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &all))
	if len(all) < 3 {
		ts.Fatalf("%d messages", len(all))
	}
	open := map[string]bool{}
	for i, m := range all {
		if i > 0 && m.Role == all[i-1].Role && !bytes.HasPrefix(all[i-1].Content, []byte(`"Understood. Continuing`)) {
			ts.Fatalf("messages %d and %d are both of role %s", i-1, i, m.Role)
		}
		var blocks []struct {
			Type string `json:"type"`
			ID   string `json:"id"`
			Use  string `json:"tool_use_id"`
		}
		if m.Content[0] == '[' {
			ts.Check(json.Unmarshal(m.Content, &blocks))
		}
		for _, b := range blocks {
			if b.Type == "tool_result" && !open[b.Use] {
				ts.Fatalf("message %d: a result of no call", i)
			}
			delete(open, b.Use)
		}
		if len(open) > 0 {
			ts.Fatalf("message %d: calls without a result: %v", i, open)
		}
		for _, b := range blocks {
			if b.Type == "tool_use" {
				open[b.ID] = true
			}
		}
	}
}

// cmdSpoil damages stored block N of an archive, from 0 in the order of storing: `spoil ARCHIVE N`.
func cmdSpoil(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: spoil ARCHIVE N")
	}
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	db, err := bolt.Open(ts.MkAbs(args[0]), 0o600, nil)
	ts.Check(err)
	err = db.Update(func(tx *bolt.Tx) error {
		n, last := -1, uint64(0)
		b := tx.Bucket([]byte("blocks"))
		for k, v := b.Cursor().First(); k != nil; k, v = next(b, k) {
			if id := binary.BigEndian.Uint64(k); n < 0 || id != last {
				n, last = n+1, id
			}
			if n == want {
				if v == nil { // a large block has a bucket of its own
					b = b.Bucket(k)
					v = b.Get(k)
				}
				spoilt := append([]byte(nil), v...)
				spoilt[len(spoilt)/2] ^= 0x10
				return b.Put(k, spoilt)
			}
		}
		return errors.New("no such block")
	})
	ts.Check(errors.Join(err, db.Close()))
}

func next(b *bolt.Bucket, k []byte) ([]byte, []byte) {
	c := b.Cursor()
	c.Seek(k)
	return c.Next()
}

// cmdLost sets $LOST to the ID of the first original that a companion calls unavailable, and $ID to one that is
// available: `lost COMPANION`.
func cmdLost(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: lost COMPANION")
	}
	m := regexp.MustCompile(`\[ccd ([0-9a-z]{12}) content unavailable: `).FindStringSubmatch(ts.ReadFile(args[0]))
	if m == nil {
		ts.Fatalf("nothing is called unavailable")
	}
	ts.Setenv("LOST", m[1])
}

// cmdUnlike checks that two companions differ only in what the first calls unavailable, and that some markers are
// unchanged: `unlike DAMAGED WRITTEN`.
func cmdUnlike(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: unlike DAMAGED WRITTEN")
	}
	damaged, written := strings.Split(ts.ReadFile(args[0]), "\n"), strings.Split(ts.ReadFile(args[1]), "\n")
	if len(damaged) != len(written) {
		ts.Fatalf("%d lines, and %d were written", len(damaged), len(written))
	}
	same := 0
	for i, line := range damaged {
		switch {
		case line == written[i] && strings.Contains(line, "[ccd "):
			same++
		case line != written[i] && !strings.Contains(line, " content unavailable: "):
			ts.Fatalf("line %d is another: %s", i+1, line)
		}
	}
	if same == 0 {
		ts.Fatalf("no marker stands as it was")
	}
}
