// Package compactor folds the records of a session into rows and, when asked, chooses from the rows what a companion
// says.
//
// It owns the estimate, the pressure and the trigger, the zones, the strategies, the budget and the verification of
// the result. Its invariant: a Compaction is a pure function of the records added, the options and the transcript's
// bytes, however the records were cut into calls; rows hold no text. It knows nothing of files, the archive, clocks
// and goroutines: "now" is the last record's time.
package compactor

import (
	"time"

	"ccd/internal/transcript"
)

// Compactor is the folded form of one generation of a session. It is not safe for concurrent use.
type Compactor struct {
	o       Options
	session transcript.Session
	status  Status
}

// Status is what the fold knows of its session so far. Tokens are estimated unless said otherwise.
type Status struct {
	Records, Items  int
	Broken, Unknown int   // records that could not be parsed; of a type that is not known
	Context         int64 // estimate of what the agent still holds
	Total           int64 // estimate of all items
	Reported        int64 // real tokens of the context, as last reported since the last boundary; 0 where none
	Window          int64 // real tokens
	Assumed         bool  // the window is assumed: neither reported, nor configured, nor proven
	Pressure        float64
	Highest         float64 // highest pressure so far
	Level           Level   // by Highest, or as the options say; never ByPressure
	Trigger         string  // "" while none fired, else the first: "threshold", "pressure" or "boundary"
	First, Last     time.Time
	Model           string
	Cwd             string
	Branch          string
	Title           string          // as given in the transcript, "" where none
	Asked           transcript.Span // the first human message, zero where there is none
	SubAgents       []string        // IDs, in order of appearance
}

// New returns the fold of a session before its first record. Of s only Agent, ID, Parent and Source are used.
func New(o Options, s transcript.Session) *Compactor {
	return &Compactor{o: o, session: s}
}

// Add folds one record in, in file order. It keeps nothing of r.
func (c *Compactor) Add(r *transcript.Record) { c.status.Records++ }

// Status returns what is known so far.
func (c *Compactor) Status() Status { return c.status }

// Size returns about how many bytes of memory the fold holds.
func (c *Compactor) Size() int64 { return 0 }
