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
	session, cwd, branch, version, model string
	types                                map[string]string
}

// maxTypes caps the table of type names: a file of nonsense must not fill memory.
const maxTypes = 256

// same returns the text of n, reusing *last where it is equal.
func same(last *string, n node) string {
	if !n.is('"') {
		return ""
	}
	if body := n.raw[1 : len(n.raw)-1]; string(body) != *last {
		*last = n.text()
	}
	return *last
}

// typeName returns "a/b" ("a" where b is empty), made once.
func (d *Decoder) typeName(a, b node) string {
	var buf [64]byte
	name := buf[:0]
	if a.is('"') {
		name = append(name, a.raw[1:len(a.raw)-1]...)
	}
	if b.is('"') && len(b.raw) > 2 {
		name = append(append(name, '/'), b.raw[1:len(b.raw)-1]...)
	}
	if known, ok := d.last.types[string(name)]; ok {
		return known
	}
	made := string(unquote(nil, append(append([]byte{'"'}, name...), '"')))
	if d.last.types == nil {
		d.last.types = map[string]string{}
	}
	if len(d.last.types) < maxTypes {
		d.last.types[string(name)] = made
	}
	return made
}
