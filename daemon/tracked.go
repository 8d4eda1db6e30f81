package daemon

import "slices"

// maxTracked bounds the memory of all readings. Beyond it the least recently used go, and are made again from the archive
// when they are needed.
const maxTracked = 32 << 20

// tracked are the sessions whose records are followed in memory, the least recently used first.
type tracked []*session

// use marks s as used, and drops the least recently used readings until the rest is below most bytes.
func (t *tracked) use(s *session, most int64) {
	list := slices.DeleteFunc(*t, func(o *session) bool { return o == s || o.read == nil })
	if s.read != nil {
		list = append(list, s)
	}
	var total int64
	for _, o := range list {
		total += o.read.size()
	}
	for len(list) > 1 && total > most {
		total -= list[0].read.size()
		list[0].read = nil
		list = list[1:]
	}
	*t = list
}
