package main

import (
	"errors"

	"github.com/rogpeppe/go-internal/testscript"
	bolt "go.etcd.io/bbolt"
)

// cmdSchema makes an archive one of another schema: `schema ARCHIVE 1` as the first release left it, or any newer one.
func cmdSchema(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: schema ARCHIVE N")
	}
	db, err := bolt.Open(ts.MkAbs(args[0]), 0o600, nil)
	ts.Check(err)
	err = db.Update(func(tx *bolt.Tx) error {
		meta := tx.Bucket([]byte("meta"))
		if args[1] == "1" {
			if err := errors.Join(meta.Delete([]byte("id")), tx.DeleteBucket([]byte("summaries"))); err != nil {
				return err
			}
		}
		return meta.Put([]byte("schema"), []byte(args[1]))
	})
	ts.Check(errors.Join(err, db.Close()))
}
