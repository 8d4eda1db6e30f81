package fold

// table is a map with a maximum number of entries. It drops the least recently touched entry first, so that its contents
// depend only on the records.
type table[K comparable, V any] struct {
	max     int
	entries map[K]*entry[K, V]
	oldest  *entry[K, V]
	newest  *entry[K, V]
	evicted int
}

type entry[K comparable, V any] struct {
	key          K
	value        V
	older, newer *entry[K, V]
}

func newTable[K comparable, V any](most int) *table[K, V] {
	return &table[K, V]{max: most, entries: map[K]*entry[K, V]{}}
}

func (t *table[K, V]) len() int { return len(t.entries) }

// get returns the value of key without touching it, nil if there is none.
func (t *table[K, V]) get(key K) *V {
	if e := t.entries[key]; e != nil {
		return &e.value
	}
	return nil
}

// touch returns the value of key, which it creates if missing and makes the newest.
func (t *table[K, V]) touch(key K) *V {
	e := t.entries[key]
	if e == nil {
		if len(t.entries) >= t.max {
			delete(t.entries, t.oldest.key)
			t.unlink(t.oldest)
			t.evicted++
		}
		e = &entry[K, V]{key: key}
		t.entries[key] = e
	} else {
		t.unlink(e)
	}
	e.older, e.newer = t.newest, nil
	if t.newest != nil {
		t.newest.newer = e
	} else {
		t.oldest = e
	}
	t.newest = e
	return &e.value
}

func (t *table[K, V]) remove(key K) {
	if e := t.entries[key]; e != nil {
		t.unlink(e)
		delete(t.entries, key)
	}
}

func (t *table[K, V]) unlink(e *entry[K, V]) {
	if e.older != nil {
		e.older.newer = e.newer
	} else {
		t.oldest = e.newer
	}
	if e.newer != nil {
		e.newer.older = e.older
	} else {
		t.newest = e.older
	}
}

// newestFirst returns the values, most recently touched first.
func (t *table[K, V]) newestFirst() []*V {
	all := make([]*V, 0, len(t.entries))
	for e := t.newest; e != nil; e = e.older {
		all = append(all, &e.value)
	}
	return all
}

// names numbers a few short strings: the tools of a session. Number 0 means none, or one beyond the maximum.
type names struct {
	list  []string
	index map[string]uint16
}

// maxNames is the maximum number of tools of a session, maxName the maximum length of a name in bytes.
const (
	maxNames = 1024
	maxName  = 120
)

func (n *names) number(name string) uint16 {
	if name == "" {
		return 0
	}
	if i, ok := n.index[name]; ok {
		return i
	}
	if len(n.list) >= maxNames {
		return 0
	}
	if n.index == nil {
		n.index = map[string]uint16{}
	}
	name = clip(name, maxName)
	n.list = append(n.list, name)
	n.index[name] = uint16(len(n.list))
	return uint16(len(n.list))
}

func (n *names) name(i uint16) string {
	if i == 0 || int(i) > len(n.list) {
		return "tool"
	}
	return n.list[i-1]
}

// clip returns a copy of at most max bytes of s, cut between characters.
func clip(s string, most int) string {
	if len(s) > most {
		for most > 0 && s[most]&0xc0 == 0x80 {
			most--
		}
		s = s[:most]
	}
	return string(append([]byte(nil), s...))
}
