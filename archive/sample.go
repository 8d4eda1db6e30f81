package archive

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// Sampled is the result of Sample.
type Sampled struct {
	Report
	Whole bool // everything was read
}

// Sample verifies the session records and, within about limit, a random selection of generations and originals chosen
// by seed. Unlike Verify it does not find all damage. err is only set if sampling could not continue. If there is no
// archive yet, Whole is true.
func (a *Archive) Sample(ctx context.Context, limit time.Duration, seed uint64) (Sampled, error) {
	r := rand.New(rand.NewPCG(seed, seed))
	v := verifier{a: a, blocks: map[blockID]bool{}}
	start, whole := binary.BigEndian.AppendUint64(nil, r.Uint64()), true
	if err := v.list(ctx); err != nil {
		return Sampled{}, fmt.Errorf("sample archive: %w", err)
	}
	for _, step := range []func(context.Context) error{
		func(ctx context.Context) error {
			r.Shuffle(len(v.sessions), func(i, j int) { v.sessions[i], v.sessions[j] = v.sessions[j], v.sessions[i] })
			return v.generations(ctx)
		},
		func(ctx context.Context) error { return v.pointersFrom(ctx, start, nil, 1) },
		func(ctx context.Context) error { return v.pointersFrom(ctx, nil, start, 1) },
	} {
		short, stop := context.WithTimeout(ctx, limit/3)
		err := step(short)
		stop()
		if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
			whole, err = false, nil
		}
		if err != nil {
			return Sampled{Report: v.Report}, fmt.Errorf("sample archive: %w", err)
		}
	}
	return Sampled{v.Report, whole}, nil
}
