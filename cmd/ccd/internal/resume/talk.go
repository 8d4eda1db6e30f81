package resume

import (
	"slices"
	"strings"

	"ccd/internal/transcript"
)

// talk reads the records of a session in order and keeps the newest pieces that a copy may contain verbatim, and only a stub of a piece
// that is too long for the room.
type talk struct {
	from, to string
	room     int // chars
	pieces   []piece
	lost     []piece // what was taken back last
	n        int     // pieces so far
	gone     string  // the reply of the last dropped piece
	records  int
	asked    string   // the beginning of the first request
	dirs     []string // working directories, each once
	version  string   // of the agent
	summed   bool     // a summary was left out
	lead     lead     // what it begins with
	waiting  transcript.Waiting[piece]
}

const (
	maxDirs   = 64
	maxPieces = 1 << 14
	askChars  = 200
)

func newTalk(from, to string, room int) *talk {
	return &talk{from: from, to: to, room: room}
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
	if p, ok := t.waiting.Take(r); ok {
		p.record = r.N
		t.take(p)
	}
	for i := range r.Items {
		if r.Queue == transcript.Enqueued {
			t.enqueue(r, r.Items[i])
		} else {
			t.item(r, &r.Items[i])
		}
	}
}

// enqueue keeps what a person typed while the agent worked, until the agent gets it.
func (t *talk) enqueue(r *transcript.Record, typed transcript.Item) {
	typed.Kind = transcript.Human
	if p, ok := newPiece(t.from, t.to, t.cwd(), r, &typed); ok {
		t.waiting.Add(string(transcript.Original(transcript.Human, typed.Raw)), p)
	}
}

func (t *talk) item(r *transcript.Record, it *transcript.Item) {
	if it.Kind == transcript.Human && !it.Side {
		said, _ := it.Said()
		t.waiting.Repeats(said)
		if typed := []rune(said); t.asked == "" {
			t.asked = string(typed[:min(len(typed), askChars)])
		}
	}
	t.summed = t.summed || it.Kind == transcript.Summary && !it.Side
	if it.Kind == transcript.Summary && !it.Side && t.n == 0 {
		t.lead = leadOf(r, it)
		return
	}
	if p, ok := newPiece(t.from, t.to, t.cwd(), r, it); ok {
		t.take(p)
	}
}

// isDir reports whether a path in a record can be a working directory: an absolute path of any system.
func isDir(path string) bool {
	return transcript.IsAbs(path) && strings.IndexByte(path, 0) < 0
}

// cwd returns the session's first working directory.
func (t *talk) cwd() string {
	if len(t.dirs) == 0 {
		return ""
	}
	return t.dirs[0]
}

// take keeps a piece as it fits an empty room, and drops the oldest one if there are too many.
func (t *talk) take(p piece) {
	t.n++
	t.pieces = append(t.pieces, p.within(t.room, t.room))
	if len(t.pieces) > maxPieces {
		t.gone = t.pieces[0].Reply
		t.pieces[0] = piece{}
		t.pieces = t.pieces[1:]
	}
}

// rewind drops what a person took back. The archive keeps it, under the range of its records.
func (t *talk) rewind(r *transcript.Record) {
	if r.From > 0 {
		i, _ := slices.BinarySearchFunc(t.pieces, r.From, func(p piece, record int) int { return p.record - record })
		t.lost = slices.Clone(t.pieces[i:])
		clear(t.pieces[i:])
		t.pieces = t.pieces[:i]
	}
	if r.Stand[0] > 0 { // two clients wrote into the session: both parts stand
		for _, p := range t.lost {
			if p.record >= r.Stand[0] && p.record <= r.Stand[1] {
				t.pieces = append(t.pieces, p)
			}
		}
		slices.SortStableFunc(t.pieces, func(a, b piece) int { return a.record - b.record })
		t.lost = nil
	}
}

// typed reports whether a piece is a message that a person typed.
func (p *piece) typed() bool { return p.Kind == transcript.Human }

// tail is the newest part of a session, verbatim.
type tail struct {
	first    int // number of its first record; the number of records plus one if it is empty
	messages []transcript.Message
	pointers []transcript.Pointer // of what it replaces by IDs
	chars    int
	whole    bool // it is the whole conversation
}

// tail chooses the newest pieces that fit the room. Results are kept whole while half of the room is free; after that, long
// ones become stubs.
func (t *talk) tail(room int) tail {
	chosen, first := t.chosen(room)
	paired, dropped := pair(chosen)
	for len(paired) > 0 && len(dropped) > 0 && dropped[0].record < paired[0].record { // answers to a message that is not in the tail
		dropped = dropped[1:]
	}
	out := tail{first: t.records + 1, whole: first == 0 && t.n == len(t.pieces) && len(dropped) == 0 && !t.summed}
	if len(paired) > 0 {
		out.first = paired[0].record
	}
	before := t.gone
	if first > 0 {
		before = t.pieces[first-1].Reply
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
	smallResult = 400 // chars; longer results become stubs when they are old
	leastCut    = 300 // minimum chars of a text that is cut to the room left
)

// within returns the piece as it fits when so much of the room is free: whole, cut or as a stub.
func (p piece) within(free, room int) piece {
	most := min(free, room/3)
	switch {
	case p.Kind == transcript.Thinking:
		if p.chars > free { // its reply is incomplete
			p.Raw, p.chars, p.short = nil, 0, true
		}
	case p.Kind == transcript.Call:
		if p.told || p.chars > most {
			p.told, p.chars = true, stubChars+len(p.label)
		}
	case p.short:
	case p.Kind == transcript.Result && (p.chars > most || p.chars > smallResult && free < room/2):
		return p.stubbed()
	case p.typed() || p.Kind == transcript.Text:
		if p.chars > most && most >= leastCut {
			return p.cut(most)
		}
	}
	return p
}

// chosen returns the newest pieces that fit the room, oldest first, and the index of the first of them.
func (t *talk) chosen(room int) (all []piece, first int) {
	free := room
	loop := len(t.pieces) > 0 && t.pieces[len(t.pieces)-1].Kind == transcript.Result // a loop of calls that has not ended
	for first = len(t.pieces); first > 0; first-- {
		p := t.pieces[first-1]
		if loop = loop && !p.typed(); p.Kind == transcript.Thinking && !loop {
			continue
		}
		p = p.within(free, room)
		if p.chars > free {
			break
		}
		free -= p.chars
		all = append(all, p)
	}
	// The tail begins after a record that is only partly in it, so that the summary covers that record.
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
