package session

import (
	"time"

	"ccd/compactor/limits"
	"ccd/internal/transcript"
)

// Status is what is known of a session as a whole. Token counts are estimates unless noted otherwise.
type Status struct {
	Records, Items  int
	Broken, Unknown int // records that could not be parsed; records of an unknown type
	Grasp           transcript.Understood
	Context         int64 // estimate of the agent's context
	Total           int64 // estimate of all items
	Reported        int64 // real tokens of the context as last reported since the last boundary, 0 if none
	Window          int64 // real tokens
	Assumed         bool  // the window is neither reported, nor configured, nor proven
	Outliers        Outliers
	Pressure        float64
	Highest         float64      // highest pressure so far
	Level           limits.Level // from Highest or the options; never ByPressure
	Trigger         string       // the first trigger that fired: "threshold", "pressure" or "boundary"; "" if none
	First, Last     time.Time
	Boundary        time.Time // when the agent last compacted its context, zero if it has not
	Model           string
	Start           string // the first working directory
	Cwd             string // the newest one
	Branch          string // in the newest record that has one
	Parent          string // ID of the session that started this one, from its path or else its records
	Title           string
	Asked           transcript.Span    // the first human message, zero if there is none
	Ask             string             // the beginning of the first request, on one line; "" if there is none
	Resumed         transcript.Resumed // the session that ccd copied it from, zero if it is no copy
	SubAgents       []string           // IDs, in order of appearance, the first 256
	Curve           Curve              // valid until the next record is added
	Reports         bool               // the session reports tokens: Curve has no estimates, except before the first report
	Waiting         bool               // the agent spoke last: it waits for the person
}

// Status returns what is known of the session so far.
func (s *Session) Status() Status {
	st := s.status
	st.Context, st.Total = limits.Tokens(s.held.chars), limits.Tokens(s.held.total)
	st.Reported, st.Outliers = s.gauge.reported, s.gauge.outliers()
	st.Window, st.Assumed = s.gauge.size()
	st.Pressure, st.Highest = s.gauge.pressure, s.gauge.highest
	st.Level, st.Curve, st.Reports = s.Level(), s.curve, s.gauge.reports
	return st
}

// Reported returns the context as the agent last reported it since the last boundary, in real tokens; 0 if it has not.
func (s *Session) Reported() int64 { return s.gauge.reported }
