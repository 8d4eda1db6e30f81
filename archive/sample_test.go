package archive

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"
)

// TestSample holds that a look at an archive reads all of a small one, and meets what is damaged in it.
func TestSample(t *testing.T) {
	ctx := context.Background()
	if s, err := openAt(t, filepath.Join(t.TempDir(), "archive.db"), Options{}).Sample(ctx, time.Second, 1); err != nil || !s.Whole || s.Frames != 0 {
		t.Errorf("no archive: %+v, %v", s, err)
	}
	ro := newRotten(t)
	a := openAt(t, ro.path, Options{ReadOnly: true})
	all := sound(t, a)
	s, err := a.Sample(ctx, time.Minute, 1)
	if err != nil || !s.Whole || len(s.Damage) > 0 {
		t.Errorf("sound: %+v, %v", s, err)
	}
	if s.Frames != all.Frames || s.Pieces != all.Pieces || s.Pointers != all.Pointers {
		t.Errorf("read %+v, Verify says %+v", s.Report, all)
	}
	if s, err := a.Sample(ctx, 0, 1); err != nil || s.Whole {
		t.Errorf("without time: %+v, %v", s, err)
	}
	for n := range 100 { // wherever the time ends, that is no damage
		if s, err := a.Sample(ctx, time.Duration(n)*200*time.Microsecond, uint64(n)); err != nil || len(s.Damage) > 0 {
			t.Errorf("within %d * 200 µs: %v, %v", n, s.Damage, err)
		}
	}
	stopped, stop := context.WithCancel(ctx)
	stop()
	if _, err := a.Sample(stopped, time.Minute, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}

// TestSampleMeetsDamage holds that one flipped bit is met wherever it stands in what is stored.
func TestSampleMeetsDamage(t *testing.T) {
	ctx := context.Background()
	for name, bucket := range map[string][]byte{
		"frame": bucketFrames, "piece": bucketTail, "manifest": bucketManifest, "index": bucketIDs,
	} {
		t.Run(name, func(t *testing.T) {
			ro := newRotten(t)
			db, err := bolt.Open(ro.path, 0o600, nil)
			if err != nil {
				t.Fatal(err)
			}
			err = db.Update(func(tx *bolt.Tx) error {
				k, v := tx.Bucket(bucket).Cursor().First()
				v = append([]byte{}, v...)
				v[len(v)-1] ^= 1
				return tx.Bucket(bucket).Put(k, v)
			})
			if err = errors.Join(err, db.Close()); err != nil {
				t.Fatal(err)
			}
			s, err := openAt(t, ro.path, Options{ReadOnly: true}).Sample(ctx, time.Minute, 1)
			if err != nil || len(s.Damage) == 0 {
				t.Errorf("%+v, %v", s, err)
			}
		})
	}
}

// TestSampleOfRottenFiles holds that nothing in a file makes a look at it crash, hang or tell of an error that is none.
func TestSampleOfRottenFiles(t *testing.T) {
	ctx := context.Background()
	ro := newRotten(t)
	sane, err := os.ReadFile(ro.path)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(3, 3))
	met := 0
	for range 60 {
		bad := append([]byte{}, sane...)
		for range 1 + r.IntN(40) {
			bad[r.IntN(len(bad))] ^= byte(1 << r.IntN(8))
		}
		path := filepath.Join(t.TempDir(), "archive.db")
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := openAt(t, path, Options{ReadOnly: true}).Sample(ctx, time.Minute, r.Uint64())
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Damage) > 0 {
			met++
		}
	}
	if met == 0 {
		t.Error("no damage was met in any of 60 rotten files")
	}
}
