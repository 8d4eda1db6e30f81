package archive

import (
	"context"
	"encoding/json"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/mark"
)

// Summary is the stored result of summarizing a text.
type Summary struct {
	Text    string `json:"text,omitempty"`    // the summary, "" if there is none
	Refused int    `json:"refused,omitempty"` // number of failed attempts
}

// Tries is the number of failed attempts after which an input is given up.
const Tries = 3

// Summaries returns the compactor's lookup function for summaries: the stored text, "" if there is none. known is false if another attempt
// may bring one. It is a cache: a damaged entry counts as none, and the next result replaces it.
func (a *Archive) Summaries(ctx context.Context) func(input mark.Hash) (summary string, known bool, err error) {
	return func(input mark.Hash) (summary string, known bool, err error) {
		defer wrap(&err, "look up summary %s", input.ID())
		var s Summary
		err = a.viewAny(ctx, func(tx *bolt.Tx) error {
			s, _ = parseSummary(input[:], kindSummary.bucket(tx).Get(input[:]))
			return nil
		})
		return s.Text, s.Text != "" || s.Refused >= Tries, err
	}
}

// maxSummary is the maximum size of a stored summary, in bytes.
const maxSummary = 64 << 10

// KeepSummary stores the result for the input with the given hash durably. A stored text is never replaced, because
// companions were made from it. Refusals are added up. It fails if the text is over maxSummary.
func (a *Archive) KeepSummary(ctx context.Context, input mark.Hash, s Summary) (err error) {
	defer wrap(&err, "store summary %s", input.ID())
	if len(s.Text) > maxSummary {
		return fmt.Errorf("%d bytes exceed the limit of %d", len(s.Text), maxSummary)
	}
	return a.update(ctx, int64(len(s.Text)), func(tx *bolt.Tx) error {
		b := kindSummary.bucket(tx)
		was, _ := parseSummary(input[:], b.Get(input[:])) // a damaged one counts as none
		if was.Text != "" {
			return nil
		}
		s.Refused += was.Refused
		record, err := json.Marshal(s)
		if err != nil {
			return err
		}
		return put(tx, kindSummary, input[:], record)
	})
}

func parseSummary(key, v []byte) (s Summary, err error) {
	record, err := unseal(kindSummary, key, v)
	if err == nil {
		err = json.Unmarshal(record, &s)
	}
	if err != nil {
		return Summary{}, fmt.Errorf("summary: %w", err)
	}
	return s, nil
}

// summaries checks the stored summaries.
func (v *verifier) summaries(ctx context.Context) error {
	err := v.a.each(ctx, kindSummary, func(_ *bolt.Tx, key, value []byte) error {
		v.Summaries++
		if _, err := parseSummary(key, value); err != nil {
			return v.addDamage(v.a.damage("%w", err))
		}
		return nil
	})
	return v.addDamage(err)
}
