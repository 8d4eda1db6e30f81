package transcript

// An attachment record holds what Claude Code puts into the context by itself: reminders, file contents, hook output,
// listings; and what a person typed while the agent was at work (queued_command). New versions say in "rendered" what
// was sent; in older ones it is the attachment's own text.

// claudeSilent are the attachments that the model never sees as such: prompt_snapshot repeats the system prompt and
// the tools' schemas.
var claudeSilent = map[string]bool{"prompt_snapshot": true, "session_context": true}

func (d *Decoder) claudeAttachment(r *Record, l *claudeLine) {
	a := readAttachment(l.attachment)
	kind := a.kind.text()
	if claudeSilent[kind] {
		r.UI = true
		return
	}
	item := Item{Kind: Meta, Side: l.side}
	if kind == "queued_command" {
		d.queued(r, l, a)
		return
	}
	if l.rendered.is('[') {
		for sent := range l.rendered.elements() {
			if content := sent.field("content"); content.full() {
				r.add(item, content)
			}
		}
		return
	}
	for _, n := range []node{a.content, a.text, a.snippet, a.prompt} {
		if n.full() {
			r.add(item, n)
			return
		}
	}
}

// queued adds a prompt that waited for the agent: a person's, unless it says that a program put it there.
func (d *Decoder) queued(r *Record, l *claudeLine, a attached) {
	mode := a.mode.text()
	v := voice{role: "user", side: l.side}
	origin := a.origin
	if !origin.full() {
		origin = l.origin
	}
	if !a.meta.isTrue() && (mode == "prompt" || mode == "bash" || mode == "") {
		v.by = d.claudeAuthor(l, origin)
	}
	d.content(r, a.prompt, v)
	if mode == "task-notification" || a.origin.field("kind").text() == "task-notification" {
		r.Agent = between(plainText(a.prompt), "<task-id>", "</task-id>")
	}
}

type attached struct{ kind, content, text, snippet, prompt, mode, origin, meta node }

func readAttachment(n node) (a attached) {
	for key, v := range n.members() {
		switch string(key) {
		case "type":
			a.kind = v
		case "content":
			a.content = v
		case "text":
			a.text = v
		case "snippet":
			a.snippet = v
		case "prompt":
			a.prompt = v
		case "commandMode":
			a.mode = v
		case "origin":
			a.origin = v
		case "isMeta":
			a.meta = v
		}
	}
	return a
}

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
