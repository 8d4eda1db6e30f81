package session

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"ccd/internal/transcript"
)

// Deed is one of the things that sums and lists count of a session.
type Deed struct {
	Kind   int64
	Key    int64  // the same in a copy of the session
	Milli  int64  // when it was, see Time
	Record int64  // its number; of a change, that of the call
	Name   string // path of a changed file, model of a reply; "" if unknown

	Op, Plus, Minus  int64 // of a change: a transcript.Op, and the lines that its call adds and removes, as far as it says
	transcript.Spent       // on a reply

	name int64 // number of the name
}

// The kinds of deeds.
const (
	Requested int64 = iota // by a person; perhaps taken back
	Committed
	Compacted
	Changed
	Replied
)

// deedsForm is the first byte of encoded deeds. It changes with their form, with what is counted, with the numbers of Op, and with
// what else every stored session has to have.
const deedsForm = 2

func (d *Deed) numbers() []*int64 {
	return []*int64{&d.Kind, &d.Key, &d.Milli, &d.Record, &d.name, &d.Op, &d.Plus, &d.Minus, &d.In, &d.Cached, &d.Written, &d.Out, &d.Begun}
}

// Time is when it was, zero if that is not recorded.
func (d *Deed) Time() (at time.Time) {
	if d.Milli != 0 {
		at = time.UnixMilli(d.Milli).UTC()
	}
	return at
}

// deeds are those of a session, encoded: they stay in memory and in the session's state.
type deeds struct {
	list  []byte
	last  Deed
	names map[string]int64 // in the order of their first use

	own     bool   // the record is neither a copy nor from another file or generation
	command Deed   // the request of Tracker.command
	model   string // in the newest record that has one
	total   int64  // tokens that the newest report counts in all
	reply   Deed   // the newest one
}

// did adds a deed, unless its record is another session's.
func (t *Tracker) did(d Deed) {
	w := &t.deeds
	if !w.own {
		return
	}
	name, known := w.names[d.Name]
	if !known {
		name = int64(len(w.names))
		w.names[d.Name] = name
	}
	step := d
	step.name, step.Milli, step.Record = name, d.Milli-w.last.Milli, d.Record-w.last.Record
	for _, n := range step.numbers() {
		w.list = binary.AppendVarint(w.list, *n)
	}
	if w.last = d; !known {
		w.list = append(binary.AppendVarint(w.list, int64(len(d.Name))), d.Name...)
	}
}

// Counted reports whether what a session did is counted as this version of ccd does.
func (k *Known) Counted() bool { return len(k.Deeds) > 0 && k.Deeds[0] == deedsForm }

// Did decodes Deeds. It fails unless they are Counted.
func (k *Known) Did() (all []Deed, err error) {
	if !k.Counted() {
		return nil, errors.New("decode deeds: another form")
	}
	in, names, last := bytes.NewReader(k.Deeds[1:]), []string(nil), Deed{}
	number := func() int64 {
		n, failed := binary.ReadVarint(in)
		err = cmp.Or(err, failed)
		return n
	}
	for in.Len() > 0 {
		d := Deed{}
		for _, n := range d.numbers() {
			*n = number()
		}
		if d.name == int64(len(names)) {
			text := make([]byte, max(0, min(number(), int64(in.Len()))))
			_, failed := io.ReadFull(in, text)
			err, names = cmp.Or(err, failed), append(names, string(text))
		}
		if err != nil || d.name < 0 || d.name >= int64(len(names)) {
			return nil, fmt.Errorf("decode deeds: damaged: %w", err)
		}
		d.Milli, d.Record, d.Name = d.Milli+last.Milli, d.Record+last.Record, names[d.name]
		all, last = append(all, d), d
	}
	return all, nil
}

// happened returns what happened in a record. What else it is known by is in its key.
func (t *Tracker) happened(kind int64, r *transcript.Record, by ...any) Deed {
	d := Deed{Kind: kind, Record: int64(r.N)}
	if !r.Time.IsZero() {
		d.Milli = r.Time.UnixMilli()
	}
	d.Key = deedKey(append(by, t.session.Agent, kind, d.Milli))
	return d
}

// deedKey is short because each deed has one: among a million, two have the same with a chance of a hundredth.
func deedKey(of ...any) int64 { return int64(transcript.Hashed(fmt.Sprint(of...)) >> 17) }

// requests takes an item with which a person asks for something. All items of a record are one request, and a command is one when the
// agent is known to have got it. What was typed while the agent was working is none.
func (t *Tracker) requests(r *transcript.Record, command bool) {
	one := t.happened(Requested, r, r.Items[0].Sum().Key())
	if command {
		t.deeds.command = one
	} else if !strings.Contains(r.Type, "queued") {
		t.did(one)
	}
}

// changes adds the files that the newest result of a call proves to be changed, and the commits that git printed in it.
func (t *Tracker) changes(r *transcript.Record, it *transcript.Item, p *pending) {
	for _, f := range p.changed() {
		for _, path := range []string{f.Path, f.To} {
			if path == "" || !alters(f) {
				continue
			}
			d := t.happened(Changed, r, it.Sum().Key(), transcript.PathKey(path))
			d.Record = p.record // where the session's handover and timeline have it
			d.Name, d.Op, d.Plus, d.Minus = clip(t.hidden(path), maxPath), int64(f.Op), p.plus, p.minus
			t.did(d)
		}
	}
	p.commits = t.committed(p)
	for _, c := range p.commits {
		d := t.happened(Committed, r)
		d.Key = deedKey(c.Hash, c.Subject)
		t.did(d)
	}
}

// replied takes what a record says that a reply cost. Its newest record has the whole count.
func (t *Tracker) replied(r *transcript.Record) {
	w := &t.deeds
	if r.Model != "" && w.own {
		w.model = clip(r.Model, maxNote)
	}
	if r.Usage == nil || r.Usage.Spent == nil || !w.own || r.Usage.Sum > 0 && r.Usage.Sum == w.total {
		return
	}
	one := t.happened(Replied, r)
	if one.Key = deedKey(t.session.Agent, r.Usage.ID); r.Usage.ID == "" {
		one.Key = deedKey(t.session.Agent, r.Sum().Key(), r.Time.UnixNano())
	}
	one.Name, one.Spent, w.total = w.model, *r.Usage.Spent, r.Usage.Sum
	if whole := (transcript.Node{Raw: r.Raw}); r.Usage.Side {
		one.Name = cmp.Or(whole.Field("message").Field("model").Text(), whole.Field("data").Field("message").Field("message").Field("model").Text())
	}
	if one.Key != w.reply.Key || one.Spent != w.reply.Spent {
		w.reply = one
		t.did(one)
	}
}
