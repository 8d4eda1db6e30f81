package transcript

import "hash/fnv"

// maxCalls is how many calls a decoder remembers. A result follows its call closely; far more than any agent has ever
// had open at once.
const maxCalls = 256

// callTable remembers which tool each of the last calls named. What it forgets is a function of the records alone.
type callTable struct {
	tools map[uint64]string // by hash of the call's ID
	order []uint64          // a ring of the keys, oldest at next
	next  int
}

func newCallTable() *callTable { return &callTable{tools: map[uint64]string{}} }

func callKey(id string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(id))
	return h.Sum64()
}

func (t *callTable) put(id, tool string) {
	if id == "" {
		return
	}
	key := callKey(id)
	if _, ok := t.tools[key]; ok {
		t.tools[key] = tool
		return
	}
	if len(t.order) < maxCalls {
		t.order = append(t.order, key)
	} else {
		delete(t.tools, t.order[t.next])
		t.order[t.next] = key
		t.next = (t.next + 1) % maxCalls
	}
	t.tools[key] = tool
}

func (t *callTable) tool(id string) string {
	if id == "" {
		return ""
	}
	return t.tools[callKey(id)]
}

// repeated holds strings that stand in record after record, so that each is made once.
type repeated struct {
	Session, Cwd, Branch, Version, Model string
	types                                map[string]string
}

// maxTypes caps the table of type names: a file of nonsense must not fill memory.
const maxTypes = 256

// Reuse returns the text of n, reusing *last where it is equal.
func Reuse(last *string, n Node) string {
	if !n.Is('"') {
		return ""
	}
	if body := n.Raw[1 : len(n.Raw)-1]; string(body) != *last {
		*last = n.Text()
	}
	return *last
}

// TypeName returns "a/b" ("a" where b is empty), made once.
func (d *Decoder) TypeName(a, b Node) string {
	var buf [64]byte
	name := buf[:0]
	if a.Is('"') {
		name = append(name, a.Raw[1:len(a.Raw)-1]...)
	}
	if b.Is('"') && len(b.Raw) > 2 {
		name = append(append(name, '/'), b.Raw[1:len(b.Raw)-1]...)
	}
	if known, ok := d.Last.types[string(name)]; ok {
		return known
	}
	made := string(unquote(nil, append(append([]byte{'"'}, name...), '"')))
	if d.Last.types == nil {
		d.Last.types = map[string]string{}
	}
	if len(d.Last.types) < maxTypes {
		d.Last.types[string(name)] = made
	}
	return made
}
