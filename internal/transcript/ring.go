package transcript

// maxRecent is how many of the last UUIDs a decoder remembers, to tell what a preserved segment holds.
const maxRecent = 256

// ring holds the UUIDs of the last records that have one.
type ring struct {
	uuids []string
	next  int
}

func (g *ring) add(uuid string) {
	if uuid == "" {
		return
	}
	if len(g.uuids) < maxRecent {
		g.uuids = append(g.uuids, uuid)
		return
	}
	g.uuids[g.next] = uuid
	g.next = (g.next + 1) % maxRecent
}

// between returns the UUIDs from head to tail, in order; only these two where they are too far back.
func (g *ring) between(head, tail string) []string {
	var found []string
	for i := range g.uuids {
		uuid := g.uuids[(g.next+i)%len(g.uuids)]
		if uuid == head || found != nil {
			found = append(found, uuid)
		}
		if uuid == tail && found != nil {
			return found
		}
	}
	return []string{head, tail}
}

// after returns the UUIDs behind one, in order; none where it is too far back.
func (g *ring) after(uuid string) (found []string) {
	behind := false
	for i := range g.uuids {
		next := g.uuids[(g.next+i)%len(g.uuids)]
		if behind {
			found = append(found, next)
		}
		behind = behind || next == uuid
	}
	return found
}
