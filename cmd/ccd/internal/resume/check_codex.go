package resume

import (
	"encoding/json"
	"path"
	"regexp"
	"strings"
	"time"
)

// rolloutName is the only form of name that Codex takes.
var rolloutName = regexp.MustCompile(`^rollout-(\d{4})-(\d\d)-(\d\d)T\d\d-\d\d-\d\d-([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.jsonl$`)

// rollout is what the lines of a Codex session must keep from one to the next.
type rollout struct {
	id   string
	time time.Time
	free map[string]bool // of calls that wait for their output: whether their tool takes free text
	ids  map[string]bool // of all calls
	said bool
}

func checkCodex(place string, lines [][]byte) *RefusedError {
	name := rolloutName.FindStringSubmatch(path.Base(place))
	if name == nil || !strings.HasSuffix(path.Dir(place), path.Join(name[1], name[2], name[3])) {
		return refuse(0, "the file's name or its directory is not a rollout's")
	}
	r := rollout{id: name[4], free: map[string]bool{}, ids: map[string]bool{}}
	for i, line := range lines {
		m, err := members(i+1, line)
		if err == nil {
			err = r.line(i+1, m)
		}
		if err != nil {
			return err
		}
	}
	switch {
	case !r.said:
		return refuse(0, "nothing is said")
	case len(r.free) > 0:
		return refuse(len(lines), "a call has no output")
	}
	return nil
}

func (r *rollout) line(n int, m map[string]json.RawMessage) *RefusedError {
	at, err := time.Parse(time.RFC3339Nano, text(m["timestamp"]))
	if err != nil || at.Before(r.time) {
		return refuse(n, "no time, or one before that of the record before it")
	}
	r.time = at
	payload := object(m["payload"])
	switch kind := text(m["type"]); {
	case m["ordinal"] != nil:
		return refuse(n, "an ordinal, without the mode that goes with it")
	case n == 1 && kind != "session_meta", n > 1 && kind != "response_item":
		return refuse(n, "a type of record that has no place there")
	case n == 1:
		return r.meta(payload)
	}
	return r.item(n, payload)
}

func (r *rollout) meta(p map[string]json.RawMessage) *RefusedError {
	for _, name := range []string{"id", "timestamp", "cwd", "originator", "cli_version"} {
		if text(p[name]) == "" {
			return refuse(1, "a header without its "+name)
		}
	}
	switch {
	case text(p["id"]) != r.id || p["session_id"] != nil && text(p["session_id"]) != r.id:
		return refuse(1, "a header of another session than the file's name")
	case p["history_mode"] != nil:
		return refuse(1, "a header with a mode of history")
	}
	return nil
}

func (r *rollout) item(n int, p map[string]json.RawMessage) *RefusedError {
	kind := text(p["type"])
	if kind == "message" {
		return r.message(n, p)
	}
	base, output := strings.CutSuffix(kind, "_output")
	free := base == "custom_tool_call"
	id := text(p["call_id"])
	switch {
	case base != "function_call" && !free:
		return refuse(n, "an item of an unknown type")
	case !r.said:
		return refuse(n, "the assistant speaks first")
	case output:
		return r.output(n, id, free, p["output"])
	case !callID.MatchString(id):
		return refuse(n, "a call with an ID that no API takes")
	case r.ids[id]:
		return refuse(n, "another call has its ID")
	case !toolName.MatchString(text(p["name"])):
		return refuse(n, "a call of a tool that no API takes")
	case !free && text(p["arguments"]) == "" || free && p["input"] == nil:
		return refuse(n, "a call without its input")
	}
	r.ids[id], r.free[id] = true, free
	return nil
}

func (r *rollout) output(n int, id string, free bool, output json.RawMessage) *RefusedError {
	asked, ok := r.free[id]
	switch {
	case !ok || asked != free:
		return refuse(n, "an output without its call")
	case len(output) == 0 || output[0] != '"' && !soundOutput(output):
		return refuse(n, "an output that is neither text nor a list of texts and images")
	}
	delete(r.free, id)
	return nil
}

func (r *rollout) message(n int, p map[string]json.RawMessage) *RefusedError {
	role, kind := text(p["role"]), "input_text"
	if role == "assistant" {
		kind = "output_text"
	}
	parts := list(p["content"])
	switch {
	case role != "user" && role != "assistant":
		return refuse(n, "a message of a role that has no place there")
	case role == "assistant" && !r.said:
		return refuse(n, "the assistant speaks first")
	case len(parts) == 0:
		return refuse(n, "no content")
	case len(r.free) > 0:
		return refuse(n, "something else before a call's output")
	}
	for _, part := range parts {
		f := object(part)
		image := text(f["type"]) == "input_image" && role == "user" && soundOutput(asJSON([]json.RawMessage{part}))
		if !image && (text(f["type"]) != kind || strings.TrimSpace(text(f["text"])) == "") {
			return refuse(n, "an empty text, or a part that has no place there")
		}
	}
	r.said = true
	return nil
}
