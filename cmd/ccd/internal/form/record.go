package form

import (
	"bytes"
	"slices"
	"strings"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// ofRecord gives what a record of an agent's transcript says as messages, in Anthropic's form.
func ofRecord(r *transcript.Record) (all []message) {
	for i := range r.Items {
		role, b, ok := ofItem(&r.Items[i])
		if !ok {
			continue
		}
		if n := len(all); n == 0 || all[n-1].role != role {
			all = append(all, message{role: role})
		}
		m := &all[len(all)-1]
		m.blocks = append(m.blocks, b)
	}
	return all
}

// ofItem is an item as a block of a message; ok is false for what only the agent itself needs: thinking, reminders,
// instructions.
func ofItem(it *transcript.Item) (role string, b block, ok bool) {
	if it.Side {
		return "", b, false
	}
	switch {
	case it.Kind == transcript.Result, it.Kind == transcript.Human && it.Call != "":
		return "user", resultBlock(it), true
	case it.Kind == transcript.Call:
		return "assistant", callBlock(it), true
	case it.Kind == transcript.Image:
		b = imageBlock(it)
		return "user", b, b.value != nil
	case it.Kind == transcript.Human, it.Kind == transcript.Summary:
		return "user", saidBlock(it), true
	case it.Kind == transcript.Text:
		return "assistant", saidBlock(it), true
	}
	return "", b, false
}

// saidBlock is a text; of a person's message what the person wrote.
func saidBlock(it *transcript.Item) block {
	raw := it.Raw
	if whole := string(transcript.Original(it.Kind, raw)); !is(raw, '"') {
		raw = []byte(quoted(whole))
	} else if it.Kind == transcript.Human {
		if typed, added := it.Said(); typed != whole {
			raw = []byte(quoted(typed + mark.Added(added)))
		}
	}
	b := newBlock(isText, raw)
	b.around = [2][]byte{[]byte(`{"type":"text","text":`), []byte(`}`)}
	b.message = it.Message
	b.named(it)
	return b
}

// imageBlock is an image or a document; one that is given as a data URL becomes a source of its own.
func imageBlock(it *transcript.Item) block {
	source := it.Raw
	if url, ok := strings.CutPrefix(text(source), "data:"); ok {
		if media, data, ok := strings.Cut(url, ";base64,"); ok {
			source = []byte(`{"type":"base64","media_type":` + quoted(media) + `,"data":` + quoted(data) + `}`)
		}
	}
	if !is(source, '{') {
		return block{}
	}
	b := newBlock(isImage, source)
	kind := "image"
	if media := text(object(source)["media_type"]); media != "" && !strings.HasPrefix(media, "image/") {
		kind = "document"
	}
	b.around = [2][]byte{[]byte(`{"type":"` + kind + `","source":`), []byte(`}`)}
	b.named(it)
	return b
}

func callBlock(it *transcript.Item) block {
	input := it.Raw
	if is(input, '"') {
		inner := bytes.TrimSpace(transcript.Original(transcript.Text, input))
		if input = inner; !is(inner, '{') || !valid(inner) {
			input = []byte(`{"input":` + string(utf(it.Raw)) + `}`)
		}
	} else if !is(input, '{') {
		input = []byte(`{"input":` + string(utf(it.Raw)) + `}`)
	}
	b := newBlock(isCall, input)
	b.call, b.tool, b.message = it.Call, it.Tool, it.Message
	name := it.Tool
	if name == "" {
		name = "tool"
	}
	b.around = [2][]byte{[]byte(`{"type":"tool_use","id":` + quoted(it.Call) + `,"name":` + quoted(name) + `,"input":`), []byte(`}`)}
	b.named(it)
	return b
}

func resultBlock(it *transcript.Item) block {
	raw := it.Raw
	pictures := false
	if !is(raw, '"') {
		if pictures = holdsPictures(raw); !pictures || !anthropic(raw) {
			raw, pictures = []byte(quoted(string(transcript.Original(transcript.Text, raw)))), false
		}
	}
	b := newBlock(isResult, raw)
	b.call, b.pictures = it.Call, pictures
	end := `}`
	if it.Failed {
		end = `,"is_error":true}`
	}
	b.around = [2][]byte{[]byte(`{"type":"tool_result","tool_use_id":` + quoted(it.Call) + `,"content":`), []byte(end)}
	b.named(it)
	return b
}

// named gives a block the ID of the item that it was made of, also where its value is put otherwise.
func (b *block) named(it *transcript.Item) { b.id = idOf(it.Raw) }

// anthropic reports whether a content is a list of nothing but text and image blocks in that form.
func anthropic(raw []byte) bool {
	for e := range (value{raw: raw}).elements() {
		f := object(e.raw)
		if kind := text(f["type"]); kind != "text" && (kind != "image" || !is(f["source"], '{')) {
			return false
		}
	}
	return true
}

// arranged brings the messages of an agent's transcript, which are one a record, into turns: the results of the calls of
// one turn follow it in one message, what was said meanwhile follows them, and no two messages in a row have one role.
func arranged(all []message) []message {
	var flat []block
	var roles []string
	var limits []int
	for _, m := range all {
		for _, b := range m.blocks {
			if !b.dropped {
				flat, roles, limits = append(flat, b), append(roles, m.role), append(limits, m.limit)
			}
		}
	}
	a := arranger{flat: flat, roles: roles, limits: limits, done: make([]bool, len(flat)), answers: map[string][]int{}}
	for i, b := range flat {
		if b.kind == isResult {
			a.answers[b.call] = append(a.answers[b.call], i)
		}
	}
	for i := range flat {
		if !a.done[i] {
			a.turn(i)
		}
	}
	return a.out
}

type arranger struct {
	flat    []block
	roles   []string
	limits  []int
	done    []bool
	answers map[string][]int // the results that were not given yet, by call
	out     []message
}

// turn gives the blocks of the turn that begins with block i, then the results of its calls.
func (a *arranger) turn(i int) {
	if a.roles[i] == "user" {
		a.put(i)
		return
	}
	var calls []string
	last, answered := a.flat[i].message, false
	for j := i; j < len(a.flat); j++ {
		b := &a.flat[j]
		switch {
		case a.done[j]:
		case b.kind == isResult && slices.Contains(calls, b.call):
			answered = true
		case a.roles[j] != "assistant", answered && (b.message == "" || b.message != last):
			a.results(calls)
			return
		default:
			a.put(j)
			last = b.message
			if b.kind == isCall && !b.told {
				calls = append(calls, b.call)
			}
		}
	}
	a.results(calls)
}

// results gives the results of the calls, in the order of the calls.
func (a *arranger) results(calls []string) {
	for _, call := range calls {
		if left := a.answers[call]; len(left) > 0 {
			a.answers[call] = left[1:]
			a.put(left[0])
		}
	}
}

// put adds a block to the message of its role.
func (a *arranger) put(i int) {
	a.done[i] = true
	n := len(a.out)
	if n == 0 || a.out[n-1].role != a.roles[i] {
		a.out = append(a.out, message{role: a.roles[i]})
		n++
	}
	b := a.flat[i]
	b.most = a.limits[i]
	a.out[n-1].blocks = append(a.out[n-1].blocks, b)
	a.out[n-1].limit = max(a.out[n-1].limit, b.most)
}

// built is a message in Anthropic's form; its content is a string where it is one text.
func (m *message) built(most int, pictures bool) []byte {
	var all []string
	for i := range m.blocks {
		b := &m.blocks[i]
		all = append(all, string(b.json(min(most, b.most), pictures)))
	}
	content := "[" + strings.Join(all, ",") + "]"
	if b := &m.blocks[0]; len(all) == 1 && b.kind == isText {
		content = strings.TrimSuffix(strings.TrimPrefix(all[0], string(b.around[0])), string(b.around[1]))
	}
	return []byte(`{"role":` + quoted(m.role) + `,"content":` + content + `}`)
}

func holdsPictures(content []byte) bool {
	for e := range (value{raw: content}).elements() {
		if kind := text(object(e.raw)["type"]); strings.Contains(kind, "image") || kind == "document" {
			return true
		}
	}
	return false
}
