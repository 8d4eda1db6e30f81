package resume

import (
	"slices"
	"strings"

	"ccd/internal/transcript"
)

// talk takes the records of a session in, in order, and keeps the newest pieces that a copy may hold word by word: no
// more of them than the room could ever take, and of a piece that is too long for its place only what tells of it.
type talk struct {
	from, to string
	room     int // chars
	pieces   []piece
	n        int    // pieces so far
	gone     string // the reply of the last piece that was let go
	chars    int    // that the pieces kept take at the least
	records  int
	places   map[string]int // how many pieces stood when a record of the chain had come, by its UUID
	uuids    []string       // in order
	asked    string         // the beginning of the first thing that a person asked
	dirs     []string       // working directories, each once
	version  string         // of the agent
	summed   bool           // a summary was left out
}

const (
	maxChain = 4096 // records of the chain that a later one may hang on
	maxDirs  = 64
	askChars = 200

	thoughtChars = 50
)

func newTalk(from, to string, room int) *talk {
	return &talk{from: from, to: to, room: room, places: map[string]int{}}
}

// most is what one piece may take.
func (t *talk) most() int { return max(1000, t.room/3) }

// least is what a piece takes where it is as short as it can be.
func (t *talk) least(p *piece) int {
	switch p.Kind {
	case transcript.Result, transcript.Image:
		return min(p.chars, stubChars)
	case transcript.Call:
		return min(p.chars, stubChars+len(p.label))
	case transcript.Thinking:
		return thoughtChars // most of it never gets into a copy
	}
	return min(p.chars, t.most())
}

func (t *talk) add(r *transcript.Record) {
	t.records = r.N
	if r.Version != "" {
		t.version = r.Version
	}
	if isDir(r.Cwd) && len(t.dirs) < maxDirs && !slices.Contains(t.dirs, r.Cwd) {
		t.dirs = append(t.dirs, r.Cwd)
	}
	t.rewind(r)
	for i := range r.Items {
		it := &r.Items[i]
		if it.Kind == transcript.Human && !it.Side && t.asked == "" {
			said, _ := it.Said()
			typed := []rune(said)
			t.asked = string(typed[:min(len(typed), askChars)])
		}
		t.summed = t.summed || it.Kind == transcript.Summary && !it.Side
		if it.Kind == transcript.Summary && t.n == 0 {
			continue // the lead, or a copy's own first message
		}
		if p, ok := newPiece(t.from, t.to, t.cwd(), r, it); ok {
			t.take(p)
		}
	}
	t.chain(r)
}

// isDir reports whether a directory that a record names can be one to go to: an absolute path, of any system.
func isDir(path string) bool {
	return transcript.IsAbs(path) && strings.IndexByte(path, 0) < 0
}

// cwd is where the session works at first.
func (t *talk) cwd() string {
	if len(t.dirs) == 0 {
		return ""
	}
	return t.dirs[0]
}

// take keeps a piece, shortened at once where it can never stand whole, and lets go of those that have no room any more.
func (t *talk) take(p piece) {
	p.place = t.n
	t.n++
	if p.chars > t.most() {
		switch p.Kind {
		case transcript.Result:
			p = p.stubbed()
		case transcript.Image:
			if p.chars > t.room/2 {
				p = p.stubbed()
			}
		case transcript.Human, transcript.Text:
			p = p.cut(t.most())
		case transcript.Call:
			p.Raw, p.told = nil, true
		case transcript.Thinking:
			p.Raw, p.chars, p.short = nil, 0, true // its reply lacks something
		}
	}
	t.pieces = append(t.pieces, p)
	t.chars += t.least(&p)
	for len(t.pieces) > 1 && t.chars > t.room {
		t.chars -= t.least(&t.pieces[0])
		t.gone = t.pieces[0].reply
		t.pieces[0] = piece{}
		t.pieces = t.pieces[1:]
	}
}

// chain notes where in the conversation a record stands.
func (t *talk) chain(r *transcript.Record) {
	if r.UUID == "" {
		return
	}
	if _, ok := t.places[r.UUID]; !ok {
		t.uuids = append(t.uuids, r.UUID)
	}
	t.places[r.UUID] = t.n
	if len(t.uuids) > maxChain {
		delete(t.places, t.uuids[0])
		t.uuids = t.uuids[1:]
	}
}

// rewind leaves out what a person took back: Claude Code hangs the new message on an earlier record, which may stand
// within a turn; of other agents' records it is told how many turns go. It stays in the archive, under the range of its records.
func (t *talk) rewind(r *transcript.Record) {
	if t.from != claude {
		t.dropTurns(r.Back)
		return
	}
	if !slices.ContainsFunc(r.Items, func(it transcript.Item) bool {
		return it.Kind == transcript.Human && it.Call == "" && !it.Side
	}) {
		return
	}
	place, ok := t.places[transcript.ParentUUID(r)]
	if !ok && !transcript.Rooted(r) {
		return
	}
	i, _ := slices.BinarySearchFunc(t.pieces, place, func(p piece, at int) int { return p.place - at })
	// Results alone are no turn: those of calls that ran side by side come in any order.
	if slices.ContainsFunc(t.pieces[i:], func(p piece) bool { return p.assistant || p.typed() }) {
		t.dropFrom(i)
	}
}

// dropTurns leaves the last turns out; all, where there are no more of them.
func (t *talk) dropTurns(n int) {
	for i := len(t.pieces) - 1; i >= 0 && n > 0; i-- {
		if t.pieces[i].typed() {
			n--
		}
		if n == 0 {
			t.dropFrom(i)
		}
	}
	if n > 0 {
		t.dropFrom(0)
	}
}

// typed reports whether a piece is what a person wrote as a message.
func (p *piece) typed() bool { return p.Kind == transcript.Human }

func (t *talk) dropFrom(i int) {
	for _, p := range t.pieces[i:] {
		t.chars -= t.least(&p)
	}
	clear(t.pieces[i:])
	t.pieces = t.pieces[:i]
}

// tail is the newest part of a session, word by word.
type tail struct {
	first    int // number of its first record; one more than there are where it is empty
	messages []transcript.Message
	pointers []transcript.Pointer // of what it leaves out and names
	chars    int
	whole    bool // nothing of the conversation is left out
}

// tail chooses the newest pieces that room holds. Their results stand whole while half of it is free, then as stubs
// where they are long.
func (t *talk) tail(room int) tail {
	chosen, first := t.chosen(room)
	paired, dropped := pair(chosen)
	for len(paired) > 0 && len(dropped) > 0 && dropped[0].record < paired[0].record { // answers to what is not there
		dropped = dropped[1:]
	}
	out := tail{first: t.records + 1, whole: first == 0 && t.n == len(t.pieces) && len(dropped) == 0 && !t.summed}
	if len(paired) > 0 {
		out.first = paired[0].record
	}
	before := t.gone
	if first > 0 {
		before = t.pieces[first-1].reply
	}
	paired = thoughts(paired, before)
	out.messages = arranged(paired)
	for _, p := range paired {
		out.chars += p.chars
		if p.short || p.named {
			out.pointers = append(out.pointers, p.whole)
			out.whole = false
		}
	}
	return out
}

const (
	smallResult = 400 // chars that a result has at least where it is not shown whole for its age
	leastCut    = 300 // chars of a text that is cut to what room is left
)

// within is the piece as it stands where so much of the room is free: whole, or what tells of it.
func (p piece) within(free, room int) piece {
	most := min(free, room/3)
	switch p.Kind {
	case transcript.Image:
		if !p.short && p.chars > free {
			return p.stubbed()
		}
	case transcript.Result:
		if !p.short && (p.chars > most || p.chars > smallResult && free < room/2) {
			return p.stubbed()
		}
	case transcript.Call:
		if p.told || p.chars > most {
			p.told, p.chars = true, stubChars+len(p.label)
		}
	case transcript.Human, transcript.Text:
		if !p.short && p.chars > most && most >= leastCut {
			return p.cut(most)
		}
	}
	return p
}

// chosen gives the newest pieces within room, oldest first, and the place of the first of them among those kept.
func (t *talk) chosen(room int) (all []piece, first int) {
	free := room
	loop := len(t.pieces) > 0 && t.pieces[len(t.pieces)-1].Kind == transcript.Result // one that has not ended
	for first = len(t.pieces); first > 0; first-- {
		p := t.pieces[first-1]
		if loop = loop && !p.typed(); p.Kind == transcript.Thinking && !loop {
			continue
		}
		if p.Kind == transcript.Thinking && p.chars > free {
			p.Raw, p.chars, p.short = nil, 0, true
		}
		p = p.within(free, room)
		if p.chars > free {
			break
		}
		free -= p.chars
		all = append(all, p)
	}
	// A record that is there in part stands before the tail: what is missing of it must be somewhere.
	if n := len(all); first > 0 && n > 0 {
		half := t.pieces[first-1].record
		for n > 1 && all[n-1].record == half {
			n--
			first++
		}
		all = all[:n]
	}
	slices.Reverse(all)
	return all, first
}
