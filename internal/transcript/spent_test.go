package transcript_test

import (
	"testing"

	"ccd/internal/transcript"
)

// TestSpent: what a reply cost, in the spellings of the clients; what was read from a cache is not counted twice.
func TestSpent(t *testing.T) {
	for record, want := range map[string]struct {
		transcript.Spent
		sum int64
	}{
		`{"message":{"id":"m","usage":{"input_tokens":3,"cache_creation_input_tokens":40,"cache_read_input_tokens":500,"output_tokens":6}}}`:                                                                   {transcript.Spent{In: 3, Cached: 500, Written: 40, Out: 6}, 0},
		`{"message":{"usage":{"input_tokens":3,"cache_read_input_tokens":null,"output_tokens":6}}}`:                                                                                                            {transcript.Spent{In: 3, Out: 6}, 0},
		`{"message":{"usage":{"input":5,"output":119,"cacheRead":140318,"cacheWrite":912,"cost":{"input":0.1}}}}`:                                                                                              {transcript.Spent{In: 5, Cached: 140318, Written: 912, Out: 119}, 0},
		`{"payload":{"type":"token_count","info":{"total_token_usage":{"total_tokens":900},"last_token_usage":{"input_tokens":120,"cached_input_tokens":100,"output_tokens":8,"reasoning_output_tokens":5}}}}`: {transcript.Spent{In: 20, Cached: 100, Out: 8}, 900},
		`{"tokens":{"input":12990,"output":39,"cached":12504,"thoughts":51,"tool":0,"total":13080}}`:                                                                                                           {transcript.Spent{In: 486, Cached: 12504, Out: 90}, 0},
		`{"usageMetadata":{"promptTokenCount":12,"candidatesTokenCount":4,"thoughtsTokenCount":2}}`:                                                                                                            {transcript.Spent{In: 12, Out: 6}, 0},
		`{"usage":{"inputTokens":1,"cacheReadInputTokens":2,"cacheCreationInputTokens":3,"outputTokens":4}}`:                                                                                                   {transcript.Spent{In: 1, Cached: 2, Written: 3, Out: 4}, 0},
	} {
		if got, sum, ok := transcript.SpentIn([]byte(record)); !ok || got != want.Spent || sum != want.sum {
			t.Errorf("%s: %+v, %d, %v", record, got, sum, ok)
		}
	}
	for _, record := range []string{`{}`, `{"message":{"usage":{"input_tokens":-3,"output_tokens":6}}}`, `{"message":{"usage":{"input_tokens":"many"}}}`, `{"payload":{"info":null}}`, `[]`} {
		if got, _, ok := transcript.SpentIn([]byte(record)); ok {
			t.Errorf("%s: %+v", record, got)
		}
	}
}
