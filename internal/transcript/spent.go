package transcript

// Spent is what a reply cost, in real tokens, as its client reports it.
type Spent struct {
	In      int64 // of the context, not from a cache
	Cached  int64 // read from a cache
	Written int64 // of the context, into a cache
	Out     int64 // with what is thought
	Begun   bool  // Out is only the count that the stream began with
}

// spelling is how clients report what a reply cost.
type spelling struct {
	at                  []string // where the object is
	in, cached, written string
	out                 []string
	within              bool // what is cached counts in in
}

var spellings = []spelling{
	{[]string{"data", "message", "message", "usage"}, "input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", []string{"output_tokens"}, false},
	{[]string{"message", "usage"}, "input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", []string{"output_tokens"}, false},
	{[]string{"message", "usage"}, "input", "cacheRead", "cacheWrite", []string{"output"}, false},
	{[]string{"payload", "info", "last_token_usage"}, "input_tokens", "cached_input_tokens", "cache_write_input_tokens", []string{"output_tokens"}, true},
	{[]string{"tokens"}, "input", "cached", "", []string{"output", "thoughts"}, true},
	{[]string{"usageMetadata"}, "promptTokenCount", "cachedContentTokenCount", "", []string{"candidatesTokenCount", "thoughtsTokenCount"}, true},
	{[]string{"usage"}, "inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens", []string{"outputTokens"}, false},
}

// mostBegun is above the counts of an output that a stream begins with. Where no reason for its end is known, a larger one is whole.
const mostBegun = 30

// SpentIn reads what the reply in a record cost. sum is the session's cost until then where the client reports that as well: it
// repeats reports. Not every client reports what a reply cost: ok is false then, and where a count is invalid.
func SpentIn(record []byte) (s Spent, sum int64, ok bool) {
	whole := Node{Raw: record}
	for _, as := range spellings {
		n, in := whole, whole // in is the reply that the object is in
		for _, name := range as.at {
			in, n = n, n.Field(name)
		}
		o := n.Object()
		if !o.Field(as.in).Has() {
			continue
		}
		counts := []int64{o.Tokens(as.in), o.Tokens(as.cached), o.Tokens(as.written), o.Tokens(as.out...)}
		for _, c := range counts {
			if c == NoCount {
				return Spent{}, 0, false
			}
		}
		if s = (Spent{counts[0], counts[1], counts[2], counts[3], counts[3] < mostBegun && string(in.Field("stop_reason").Raw) == "null"}); as.within {
			s.In = max(0, s.In-s.Cached-s.Written)
		}
		if info := whole.Field("payload").Field("info").Field("total_token_usage"); info.Has() {
			sum, _ = info.Field("total_tokens").Tokens()
		}
		return s, sum, true
	}
	return Spent{}, 0, false
}
