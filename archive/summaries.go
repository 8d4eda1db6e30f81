package archive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/mark"
)

// Summary is what is kept of a text that was given to be summarized.
type Summary struct {
	Text    string `json:"text,omitempty"`    // the summary, "" where none has come
	Refused int    `json:"refused,omitempty"` // how often none came
	Why     string `json:"why,omitempty"`     // the last time, in a word or two
}

// Tries is how often no summary may come of an input before it is given up.
const Tries = 3

// Summaries returns a function that looks summaries up as the compactor asks for them: known is false where nothing is
// kept, or where another try may bring one.
func (a *Archive) Summaries(ctx context.Context) func(input mark.Hash) (summary string, known bool, err error) {
	return func(input mark.Hash) (string, bool, error) {
		s, err := a.Summary(ctx, input)
		return s.Text, s.Text != "" || s.Refused >= Tries, err
	}
}

// maxSummary is the longest text that is kept, in bytes.
const maxSummary = 64 << 10

// KeepSummary stores what came of the input with the given hash; it is durable at return. A text that is kept already
// stays, whatever comes: who has used it finds it again. Refusals add up.
func (a *Archive) KeepSummary(ctx context.Context, input mark.Hash, s Summary) error {
	if len(s.Text) > maxSummary {
		return fmt.Errorf("keep summary %s: %d bytes, at most %d are kept", input.ID(), len(s.Text), maxSummary)
	}
	err := a.update(ctx, int64(len(s.Text)+len(s.Why)), func(tx *bolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists(bucketSummaries)
		if err != nil {
			return err
		}
		was, _ := parseSummary(input[:], b.Get(input[:])) // a damaged one is as none
		if was.Text != "" {
			return nil
		}
		s.Refused += was.Refused
		record, err := json.Marshal(s)
		if err != nil {
			return err
		}
		return b.Put(input[:], seal(input[:], record))
	})
	if err != nil {
		return fmt.Errorf("keep summary %s: %w", input.ID(), err)
	}
	return nil
}

// Summary returns what is kept of the input with the given hash, the zero Summary where it is nothing. It is a cache:
// damaged, it counts as nothing, and the next one replaces it.
func (a *Archive) Summary(ctx context.Context, input mark.Hash) (s Summary, err error) {
	err = a.view(ctx, func(tx *bolt.Tx) error {
		if b := tx.Bucket(bucketSummaries); b != nil {
			s, _ = parseSummary(input[:], b.Get(input[:]))
		}
		return nil
	})
	if err != nil && !errors.Is(err, errAbsent) {
		return s, fmt.Errorf("look up summary %s: %w", input.ID(), err)
	}
	return s, nil
}

func parseSummary(key, v []byte) (s Summary, err error) {
	record, err := unseal(key, v)
	if err == nil {
		err = json.Unmarshal(record, &s)
	}
	if err != nil {
		return Summary{}, fmt.Errorf("summary: %w", err)
	}
	return s, nil
}

// summaries checks what is kept of the summaries that a command wrote.
func (v *verifier) summaries(ctx context.Context) error {
	any := false
	err := v.a.view(ctx, func(tx *bolt.Tx) error {
		any = tx.Bucket(bucketSummaries) != nil
		return nil
	})
	if err != nil && !errors.Is(err, errAbsent) {
		return v.met(err)
	}
	if !any { // an archive of schema 1 has the bucket since its first summary was kept
		return nil
	}
	err = v.a.each(ctx, bucketSummaries, func(_ *bolt.Tx, key, value []byte) error {
		v.Summaries++
		if _, err := parseSummary(key, value); err != nil {
			return v.met(v.a.damage("%w", err))
		}
		return nil
	})
	return v.met(err)
}
