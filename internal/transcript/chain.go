package transcript

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
)

// Chain follows records that each name their predecessor. If a person goes back to an earlier message, the next message
// names that one, and the messages after it are taken back. Only a person does that: the shape of the tree alone can also
// come from two clients, from a client that tries again, or from a record of a program. So nothing is taken back
//   - by what a person did not type,
//   - behind a record that nothing follows, because the message goes on there,
//   - by a message that repeats the one before it, which the API answered with an error or nobody answered,
//   - from a branch that goes on later: two clients wrote into one session,
//   - by a message without a predecessor whose reply has all the context from before, and more.
type Chain struct {
	links   memory[link]
	record  int      // number of the current record
	turns   []int    // records of the messages of the person that count, the newest maxChain
	gone    int      // older ones
	lost    []branch // what messages took back, the newest last
	last    string   // the newest record that has a name
	asked   uint64   // the newest message of the person
	open    bool     // it has no answer, or an error of the API
	begun   bool     // a person or the agent said something
	rooted  bool     // the first of that was a person's message without a predecessor
	bounded bool     // the agent compacted its context
	used    int64    // tokens of the context as last reported
}

// link is a record that others may name.
type link struct {
	record  int
	up      string // its predecessor
	talk    bool   // a person or the agent said something in it
	follows bool   // something that was said follows it
}

// branch is what one message took back.
type branch struct {
	from, to int // records
	turns    []int
	used     int64 // by a message without a predecessor: the context before it, 0 once its reply has told of its own
}

// maxLost is how many branches are kept that may go on.
const maxLost = 16

// Add takes the next record, which follows the last one if it names no other. It sets what the record takes back, or what
// stands although an earlier one seemed to.
func (c *Chain) Add(r *Record, uuid, parent string) {
	typed, talk := r.Typed(), r.Talks()
	parent = cmp.Or(parent, c.last)
	if c.measure(r); talk {
		c.revive(r, parent)
	}
	if l := c.links.find(parent); l != nil && typed && uuid != "" && l.follows && !c.again(r) {
		r.Back, r.From = c.lose(l.record, l.record+1)
	}
	c.take(r, uuid, parent, typed, talk)
}

// Root takes a record that has no predecessor. A person goes back to the beginning with it if the conversation began with a
// message that had none either.
func (c *Chain) Root(r *Record, uuid string) {
	typed, talk := r.Typed(), r.Talks()
	if typed && uuid != "" && c.rooted && !c.again(r) {
		if r.Back, r.From = c.lose(0, 1); r.Back > 0 {
			c.lost[len(c.lost)-1].used = c.used
		}
	}
	c.rooted = c.rooted || typed && !c.begun
	c.take(r, uuid, "", typed, talk)
}

// Alias says that what follows record uuid follows its predecessor: a person chose where to go on before typing.
func (c *Chain) Alias(uuid, parent string) {
	if l := c.links.find(parent); l != nil {
		c.links.put(uuid, link{record: l.record, up: parent, follows: l.follows})
		return
	}
	c.Mark(uuid)
}

// Mark remembers the place behind the current record under a name.
func (c *Chain) Mark(uuid string) { c.links.put(uuid, link{record: c.record}) }

// MarkBefore remembers the place before the current record.
func (c *Chain) MarkBefore(uuid string) { c.links.put(uuid, link{record: c.record - 1}) }

// Compacted reports whether the agent compacted its context.
func (c *Chain) Compacted() bool { return c.bounded }

// Return processes a record with which a person returns to record to, or to the beginning if to is empty. It returns how many
// turns that takes back, and the first record with them, 0 if none.
func (c *Chain) Return(uuid, to string) (back, from int) {
	if l := c.links.find(to); l != nil {
		back, from = c.cut(l.record, l.record+1)
	} else if to == "" {
		back, from = c.cut(0, 1)
	}
	c.Mark(uuid)
	return back, from
}

// TakeBack takes back the last turns. It returns what Return does.
func (c *Chain) TakeBack(turns int) (back, from int) {
	n := min(max(turns, 0), len(c.turns))
	if n == 0 {
		return 0, 0
	}
	return c.cut(c.turns[len(c.turns)-n]-1, 0)
}

// again reports whether a message repeats the one before it, which has no answer.
func (c *Chain) again(r *Record) bool { return c.open && c.asked == askedIn(r) }

func askedIn(r *Record) uint64 {
	h := fnv.New64a()
	for i := range r.Items {
		if it := &r.Items[i]; it.Kind == Human && it.Call == "" {
			h.Write(it.exact)
		}
	}
	return h.Sum64()
}

func (c *Chain) take(r *Record, uuid, parent string, typed, talk bool) {
	c.bounded = c.bounded || r.Boundary != nil
	if typed {
		c.asked, c.open = askedIn(r), true
		if c.turns = append(c.turns, c.record); len(c.turns) > 2*maxChain {
			c.turns, c.gone = append([]int(nil), c.turns[maxChain:]...), c.gone+maxChain
		}
	} else if talk || r.APIError {
		c.open = r.APIError
	}
	if talk {
		c.begun = true
		c.follow(parent)
	}
	if uuid != "" {
		c.last = uuid
		c.links.put(uuid, link{record: c.record, up: parent, talk: talk})
	}
}

// maxFollowed is how many records are looked through for the one that something follows.
const maxFollowed = 16

// follow notes that something that was said follows a record: through bookkeeping also what was said before.
func (c *Chain) follow(name string) {
	for range maxFollowed {
		l := c.links.find(name)
		if l == nil {
			return
		}
		if l.follows = true; l.talk {
			return
		}
		name = l.up
	}
}

// lose cuts, and remembers what that takes back.
func (c *Chain) lose(after, first int) (back, from int) {
	before := slices.Clone(c.turns)
	if back, from = c.cut(after, first); back > 0 {
		c.lost = append(c.lost[max(0, len(c.lost)+1-maxLost):], branch{from: from, to: c.record - 1, turns: before[len(c.turns):]})
	}
	return back, from
}

// revive takes what is said in a branch that seemed to be taken back.
func (c *Chain) revive(r *Record, parent string) {
	l := c.links.find(parent)
	if l == nil {
		return
	}
	for i, b := range c.lost {
		if l.record >= b.from && l.record <= b.to {
			c.stand(r, i)
			return
		}
	}
}

func (c *Chain) stand(r *Record, i int) {
	b := c.lost[i]
	r.Stand = [2]int{b.from, b.to}
	c.turns = append(c.turns, b.turns...)
	slices.Sort(c.turns)
	c.lost = slices.Delete(c.lost, i, i+1)
}

// measure takes the context that a reply reports.
func (c *Chain) measure(r *Record) {
	if r.Usage == nil || r.Usage.Side || r.Usage.Context <= 0 {
		return
	}
	c.used = r.Usage.Context
	if i := len(c.lost) - 1; i >= 0 && c.lost[i].used > 0 {
		if c.used > c.lost[i].used {
			c.stand(r, i)
		} else {
			c.lost[i].used = 0
		}
	}
}

// cut takes back the turns after a record. The first record taken back is first, or that of the first such turn if it is earlier or
// first is 0.
func (c *Chain) cut(after, first int) (back, from int) {
	kept, _ := slices.BinarySearch(c.turns, after+1)
	if back = len(c.turns) - kept; back == 0 {
		return 0, 0
	}
	if kept == 0 && after == 0 {
		back, c.gone = back+c.gone, 0
	}
	if from = c.turns[kept]; first > 0 {
		from = min(first, from)
	}
	c.turns = c.turns[:kept]
	return back, from
}

// memory keeps values by ID: those of the newest most IDs, and of up to as many before them. What it forgets depends only on the
// records.
type memory[V any] struct {
	most        int // 0: maxRecent
	now, before map[uint64]*V
}

// How many calls and texts, names of records, and records are kept: a result follows its call closely, but a chain can be long, and
// a client writes a whole session again.
const (
	maxRecent = 256
	maxChain  = 1024
	maxOnce   = 8192
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
func (m *memory[V]) put(id string, value V) {
	if id == "" {
		return
	}
	if len(m.now) >= cmp.Or(m.most, maxRecent) {
		m.now, m.before = nil, m.now
	}
	if m.now == nil {
		m.now = map[uint64]*V{}
	}
	m.now[Hashed(id)] = &value
}

// find returns the last value stored for the ID, nil if there is none.
func (m *memory[V]) find(id string) *V {
	key := Hashed(id)
	return cmp.Or(m.now[key], m.before[key])
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
	key := string(h.Sum(nil))
	if d.once.find(key) == nil {
		d.once.put(key, struct{}{})
		return false
	}
	r.Items, r.Usage, r.Boundary, r.Agent, r.Chosen, r.UI = r.Items[:0], nil, nil, "", "", true
	return true
}

// RememberUUID stores the UUID of a record for UUIDsBetween and UUIDsAfter. The record gets the title that SetSummary kept
// for it.
func (d *Decoder) RememberUUID(r *Record) {
	if r.UUID != "" {
		d.recent = append(d.recent[max(0, len(d.recent)+1-maxRecent):], r.UUID)
	}
	if title := d.titles.find(r.UUID); title != nil {
		d.SetTitle(r, *title, RankSummary)
	}
}

// UUIDsBetween returns the UUIDs from head to tail in order, or only these two if they are too far back.
func (d *Decoder) UUIDsBetween(head, tail string) []string {
	if from := slices.Index(d.recent, head); from >= 0 {
		if n := slices.Index(d.recent[from:], tail); n >= 0 {
			return slices.Clone(d.recent[from : from+n+1])
		}
	}
	return []string{head, tail}
}

// UUIDsAfter returns the UUIDs of the records after the given one in order, or none if it is too far back.
func (d *Decoder) UUIDsAfter(uuid string) []string {
	if i := slices.Index(d.recent, uuid); i >= 0 {
		return slices.Clone(d.recent[i+1:])
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
