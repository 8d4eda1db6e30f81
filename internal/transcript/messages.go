package transcript

// parseMessage understands one message of a plain list: {"id"?, "role", "content"}, the content a string or a list of
// text, tool_use, tool_result and image blocks. The common other form (role "tool", tool_calls) is taken as well.
func parseMessage(d *Decoder, r *Record, value Node) {
	var role, content, id, timestamp, calls, callID, model Node
	for key, v := range value.Members() {
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
	r.Type = d.TypeName(role, Node{})
	r.UUID = id.Text()
	r.Time = Clock(timestamp)
	r.Model = Reuse(&d.Last.Model, model)
	r.Unknown = r.Unknown || len(content.Raw) == 0 && len(calls.Raw) == 0
	v := Voice{Role: role.Text(), By: d.Author(), Message: r.UUID}
	switch v.Role {
	case "user", "assistant", "system", "developer":
		d.Content(r, content, v)
	case "tool":
		call := callID.Text()
		r.AddFirst(Item{Kind: Result, Call: call, Tool: d.tools.tool(call), Message: v.Message}, content)
	default: // without a role the content is understood all the same
		r.Unknown = r.Unknown || v.Role != ""
		d.Content(r, content, v)
	}
	for call := range calls.Elements() {
		f := call.Field("function")
		d.Call(r, Item{Call: call.Field("id").Text(), Tool: f.Field("name").Text(), Message: v.Message}, f.Field("arguments"), call)
	}
}
