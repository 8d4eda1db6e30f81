package transcript

// parseMessage parses one message of a plain list: {"id"?, "role", "content"}, with a string or a list of text,
// tool_use, tool_result and image blocks as content. It also accepts the other common form (role "tool", tool_calls).
func parseMessage(d *Decoder, r *Record, value Node) {
	m := d.Object(value)
	role, content, calls := m.Field("role"), m.Field("content"), m.Field("tool_calls")
	id := m.Field("id")
	if !id.Has() {
		id = m.Field("uuid")
	}
	r.Type = d.TypeName(role, Node{})
	r.UUID = id.Text()
	r.Time = ParseTime(m.Field("timestamp"))
	r.Model = Reuse(&d.Last.Model, m.Field("model"))
	r.Unknown = r.Unknown || len(content.Raw) == 0 && len(calls.Raw) == 0
	v := Voice{Role: role.Text(), By: d.Author(), Message: r.UUID}
	switch v.Role {
	case "user", "assistant", "system", "developer":
		d.Content(r, content, v)
	case "tool":
		call := m.Field("tool_call_id").Text()
		r.AddFirst(Item{Kind: Result, Call: call, Tool: d.ToolOf(call), Message: v.Message}, content)
	default: // parse the content even without a role
		r.Unknown = r.Unknown || v.Role != ""
		d.Content(r, content, v)
	}
	for call := range calls.Elements() {
		f := call.Field("function")
		d.Call(r, Item{Call: call.Field("id").Text(), Tool: f.Field("name").Text(), Message: v.Message}, f.Field("arguments"), call)
	}
}
