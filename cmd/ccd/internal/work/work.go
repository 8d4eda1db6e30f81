// Package work reads what sessions did: what was asked, which files changed, what was committed and compacted, and what the
// replies cost.
//
// Invariant: it only reads, and it counts what records prove, each thing once: what a fork, a copy or a client repeats is the same
// thing. It knows nothing of how a sum is printed.
package work

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"sync"
	"time"

	"ccd/archive"
	"ccd/cmd/ccd/internal/reader"
	"ccd/compactor/limits"
	"ccd/internal/session"
	"ccd/internal/transcript"
)

// Session is what one session did.
type Session struct {
	*reader.Entry
	Asked     []Moment // requests of a person
	Commits   []Moment
	Compacted []Moment
	Edits     []Edit // in the order of the files, then of time
	Replies   []Reply

	src *session.Source
}

// Moment is when something happened.
type Moment struct {
	Time time.Time // zero if it is not recorded
	Key  string    // of the same thing in a copy
}

// Edit is one change of a file.
type Edit struct {
	Moment
	Path   string
	How    string // "written", "edited", "deleted", ...
	Record int    // of its result

	call *session.Call
}

// Reply is what a reply of a model cost.
type Reply struct {
	Moment
	Model string // "" if it is not recorded
	transcript.Spent
}

// Read reads a session.
func Read(ctx context.Context, l *reader.Library, e *reader.Entry) (*Session, error) {
	g, err := l.Reading(e, 0)
	if err != nil {
		return nil, err
	}
	model := session.New(limits.Options{}, g.Session)
	s := &Session{Entry: e, src: session.NewSource(model, g.Text(ctx))}
	copied := map[int32]bool{} // records of another session
	name, sum := "", int64(0)
	replies := map[string]int{} // index by ID
	for r, err := range g.Records(ctx) {
		if err != nil {
			return nil, err
		}
		model.Add(r)
		if r.Copied || r.N <= e.Kept.Resumed.Records {
			copied[int32(r.N-1)] = true
			continue
		}
		if r.Model != "" {
			name = strings.Clone(r.Model)
		}
		if r.Usage == nil || r.Usage.Spent == nil || r.Usage.Sum > 0 && r.Usage.Sum == sum {
			continue
		}
		sum = r.Usage.Sum
		one := Reply{Moment{r.Time, e.Agent + " " + strings.Clone(r.Usage.ID)}, name, *r.Usage.Spent}
		if r.Usage.ID == "" {
			one.Key = fmt.Sprint(e.Agent, " ", r.Hash.Key(), r.Time.UnixNano())
		}
		if whole := (transcript.Node{Raw: r.Raw}); r.Usage.Side {
			one.Model = cmp.Or(whole.Field("message").Field("model").Text(), whole.Field("data").Field("message").Field("message").Field("model").Text())
		}
		if i, known := replies[one.Key]; known { // a later record has the whole count
			s.Replies[i].Spent = one.Spent
			continue
		}
		replies[one.Key] = len(s.Replies)
		s.Replies = append(s.Replies, one)
	}
	s.take(model, copied)
	return s, nil
}

// take takes what the model knows of the records that are the session's own.
func (s *Session) take(model *session.Session, copied map[int32]bool) {
	at := func(ref session.Ref) (m Moment, own bool) {
		when := model.Time(ref.Rec)
		return Moment{when, fmt.Sprint(s.Agent, when.UnixMilli(), ref.Sum.Key())}, !copied[ref.Rec]
	}
	for i := range model.Events {
		if e := &model.Events[i]; e.Kind == session.Asked && !e.Back && s.Class != transcript.SubAgent {
			if m, own := at(e.Ref); own {
				s.Asked = append(s.Asked, m)
			}
		}
	}
	for _, c := range model.Commits {
		if m, own := at(model.Events[c.Event].Ref); own {
			m.Key = c.Hash + c.Subject
			s.Commits = append(s.Commits, m)
		}
	}
	for i := range model.Bounds {
		if m, own := at(session.Ref{Rec: model.Bounds[i].Rec}); own {
			s.Compacted = append(s.Compacted, m)
		}
	}
	for _, f := range model.Files {
		for _, one := range f.Edits {
			e := &model.Events[one.Event]
			ref := e.Ref
			if e.Call != nil && !e.Call.Result.Zero() {
				ref = e.Call.Result
			}
			if m, own := at(ref); own {
				m.Key += f.Path
				s.Edits = append(s.Edits, Edit{m, f.Path, reader.How[one.Op], ref.N(), e.Call})
			}
		}
	}
}

// Lines counts the lines that a change adds and removes, as far as its call says.
func (s *Session) Lines(e Edit) (plus, minus int) {
	if e.call == nil {
		return 0, 0
	}
	text, whole := s.src.Patch(e.call)
	for line := range strings.Lines(text) {
		switch {
		case whole || line[0] == '+':
			plus++
		case line[0] == '-':
			minus++
		}
	}
	return plus, minus
}

// Each reads the wanted sessions that do something of their own, newest first, several at a time, until the caller stops: those that are
// archived from a watched directory. A session is asked for right before it is read. Damage is noted in the library, and does not end it.
func Each(ctx context.Context, l *reader.Library, c reader.Choice, progress func(done, total int64)) iter.Seq2[*Session, error] {
	wanted := func(e *reader.Entry) bool {
		late := !e.Last().IsZero() && e.Last().Before(c.Since)
		early := !c.Until.IsZero() && e.Kept.First.After(c.Until)
		return works(e) && !late && !early && c.Session(e)
	}
	return func(yield func(*Session, error) bool) {
		for i := 0; i < len(l.Sessions); {
			var some []*reader.Entry
			for ; i < len(l.Sessions) && len(some) < runtime.GOMAXPROCS(0); i++ {
				if e := l.Sessions[i]; wanted(e) {
					some = append(some, e)
				}
			}
			read, failed := make([]*Session, len(some)), make([]error, len(some))
			var workers sync.WaitGroup
			for i, e := range some {
				workers.Go(func() { read[i], failed[i] = Read(ctx, l, e) })
			}
			workers.Wait()
			progress(int64(i), int64(len(l.Sessions)))
			for i, err := range failed {
				if errors.As(err, new(*archive.DamageError)) {
					l.Damage = append(l.Damage, err)
				} else if !yield(read[i], err) {
					return
				}
			}
		}
	}
}

// works reports whether a session is one that does something of its own.
func works(e *reader.Entry) bool {
	return e.Class != transcript.Attachment && e.Root != "" && len(e.Generations) > 0 && !e.Kept.UnknownFormat
}
