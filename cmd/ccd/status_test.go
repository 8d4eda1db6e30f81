package main

import "testing"

// Reported tokens come first, the estimate second and marked; an assumed window says so.
func TestLiveLine(t *testing.T) {
	s := sessionOutput{Agent: "claude-code", Session: "c0ffee00-1a2b-4c3d-8e4f-5a6b7c8d9e0f", Estimate: 171000, Reported: 61234, Pressure: 0.31, Window: 200000, Assumed: true}
	if got, want := liveLine(s), "claude-code c0ffee00-1a2b: 61,234 tokens, 171,000 est, pressure 0.31 of 200,000 (assumed)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	s.About = 40000
	if got, want := liveLine(s), "claude-code c0ffee00-1a2b: 61,234 tokens, 171,000 est, about 40,000, pressure 0.31 of 200,000 (assumed)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	s.Reported, s.Assumed, s.About = 0, false, 0
	if got, want := liveLine(s), "claude-code c0ffee00-1a2b: 171,000 est, pressure 0.31 of 200,000"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
