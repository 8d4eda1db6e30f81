package transcript

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
)

// recent keeps the last values by ID. What it forgets depends only on the records.
type recent[V any] struct {
	most int // 0: maxRecent
	all  []named[V]
	next int // of a full ring: the oldest
}

type named[V any] struct {
	id    uint64 // hash
	value V
}

// How many calls and records are kept: a result follows its call closely, but a chain can be long.
const (
	maxRecent = 256
	maxChain  = 1024
)

// Hashed returns the key of a short string (FNV-1a). It is never 0.
func Hashed(text string) uint64 {
	h := uint64(14695981039346656037)
	for j := range len(text) {
		h = (h ^ uint64(text[j])) * 1099511628211
	}
	return max(h, 1)
}

// put stores a value. It ignores an empty ID.
func (r *recent[V]) put(id string, value V) {
	if id == "" {
		return
	}
	one := named[V]{Hashed(id), value}
	if len(r.all) < max(r.most, maxRecent) {
		r.all = append(r.all, one)
		return
	}
	r.all[r.next] = one
	r.next = (r.next + 1) % len(r.all)
}

// find returns the last value stored for the ID.
func (r *recent[V]) find(id string) (value V, ok bool) {
	if one := r.at(id); one != nil {
		return *one, true
	}
	return value, false
}

// at returns the value stored for the ID, nil if there is none.
func (r *recent[V]) at(id string) *V {
	if id == "" {
		return nil
	}
	key := Hashed(id)
	for n := range r.all {
		if one := &r.all[(r.next+len(r.all)-1-n)%len(r.all)]; one.id == key {
			return &one.value
		}
	}
	return nil
}

// values returns the values, oldest first.
func (r *recent[V]) values() (all []V) {
	for i := range r.all {
		all = append(all, r.all[(r.next+i)%len(r.all)].value)
	}
	return all
}

// once keeps which records were read, by hash: the newest maxOnce, and up to as many before them.
type once struct{ now, before map[uint64]struct{} }

const maxOnce = 8192

// seen reports whether a record was seen before, and notes it.
func (o *once) seen(key uint64) bool {
	if _, ok := o.now[key]; ok {
		return true
	}
	_, ok := o.before[key]
	if len(o.now) >= maxOnce {
		o.now, o.before = nil, o.now
	}
	if o.now == nil {
		o.now = map[uint64]struct{}{}
	}
	o.now[key] = struct{}{}
	return ok
}

// Again reports whether a record repeats an earlier one: it has its UUID, time and items. Clients write records again when they
// fork or resume a session. Then the record is bookkeeping: what it says was taken before.
func (d *Decoder) Again(r *Record) bool {
	if d.Apart || r.UUID == "" {
		return false
	}
	h := fnv.New64a()
	fmt.Fprint(h, r.UUID, r.Time.UnixNano())
	for i := range r.Items {
		h.Write([]byte{byte(r.Items[i].Kind)})
		h.Write(r.Items[i].exact)
	}
	if !d.once.seen(h.Sum64()) {
		return false
	}
	r.Items, r.Usage, r.Boundary, r.Agent, r.Chosen, r.UI = r.Items[:0], nil, nil, "", "", true
	return true
}

// RememberUUID stores the UUID of a record for UUIDsBetween and UUIDsAfter. The record gets the title that SetSummary kept
// for it.
func (d *Decoder) RememberUUID(r *Record) {
	d.recent.put(r.UUID, r.UUID)
	if title, ok := d.titles.find(r.UUID); ok {
		d.SetTitle(r, title, RankSummary)
	}
}

// UUIDsBetween returns the UUIDs from head to tail in order, or only these two if they are too far back.
func (d *Decoder) UUIDsBetween(head, tail string) []string {
	all := d.recent.values()
	if from := slices.Index(all, head); from >= 0 {
		if n := slices.Index(all[from:], tail); n >= 0 {
			return all[from : from+n+1]
		}
	}
	return []string{head, tail}
}

// UUIDsAfter returns the UUIDs of the records after the given one in order, or none if it is too far back.
func (d *Decoder) UUIDsAfter(uuid string) []string {
	all := d.recent.values()
	if i := slices.Index(all, uuid); i >= 0 {
		return all[i+1:]
	}
	return nil
}

// repeated interns strings that occur in many records.
type repeated struct{ Session, Cwd, Branch, Version, Model, Provider string }

// Reuse returns the text of n, and reuses *last if it is equal.
func Reuse(last *string, n Node) string {
	if !n.Is('"') {
		return ""
	}
	if body := n.Raw[1 : len(n.Raw)-1]; string(body) != *last {
		*last = n.Text()
	}
	return *last
}

// Set returns the words of a list.
func Set(list string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		set[word] = true
	}
	return set
}

// TypeName returns "a/b", "a" if b is empty.
func TypeName(a, b Node) string {
	if sub := b.Text(); sub != "" {
		return a.Text() + "/" + sub
	}
	return a.Text()
}
