package daemon

import "slices"

// maxTracked bounds the memory of all trackers and their decoders. Beyond it the least recently used go, and are made again
// from the archive when they are needed.
const maxTracked = 32 << 20

// tracked are the sessions whose tracker is in memory, the least recently used first.
type tracked []*session

// use marks s as used, and drops the least recently used trackers until the rest is below most bytes.
func (t *tracked) use(s *session, most int64) {
	list := slices.DeleteFunc(*t, func(o *session) bool { return o == s || !o.tracked })
	if s.tracked && s.tracker != nil {
		list = append(list, s)
	}
	var total int64
	for _, o := range list {
		total += o.size()
	}
	for len(list) > 1 && total > most {
		total -= list[0].size()
		list[0].untrack()
		list = list[1:]
	}
	*t = list
}

// size returns the memory that a tracker uses, in bytes.
func (s *session) size() int64 { return s.tracker.Size() + s.decoder.Kept() }
