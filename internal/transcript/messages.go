package transcript

// parseMessage understands one message of a plain list: {"id"?, "role", "content"}, the content a string or a list of
// text, tool_use, tool_result and image blocks. The common other form (role "tool", tool_calls) is taken as well.
func parseMessage(d *Decoder, r *Record, value node) {
	if !value.is('{') {
		r.Unknown = true
		return
	}
	var role, content, id, timestamp, calls, callID, model node
	for key, v := range value.members() {
		switch string(key) {
		case "role":
			role = v
		case "content":
			content = v
		case "id", "uuid":
			id = v
		case "timestamp":
			timestamp = v
		case "tool_calls":
			calls = v
		case "tool_call_id":
			callID = v
		case "model":
			model = v
		}
	}
	r.Type = d.typeName(role, node{})
	r.UUID = id.text()
	r.Time = clock(timestamp)
	r.Model = same(&d.last.model, model)
	r.Unknown = r.Unknown || len(content.raw) == 0 && len(calls.raw) == 0
	v := voice{role: role.text(), by: d.untold(), message: r.UUID}
	switch v.role {
	case "user", "assistant", "system", "developer":
		d.content(r, content, v)
	case "tool":
		call := callID.text()
		r.addFirst(Item{Kind: Result, Call: call, Tool: d.tools.tool(call), Message: v.message}, content)
	default: // without a role the content is understood all the same
		r.Unknown = r.Unknown || v.role != ""
		d.content(r, content, v)
	}
	for call := range calls.elements() {
		f := call.field("function")
		d.call(r, Item{Call: call.field("id").text(), Tool: f.field("name").text(), Message: v.message}, f.field("arguments"), call)
	}
}
