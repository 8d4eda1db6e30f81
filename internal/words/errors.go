package words

import "fmt"

// Exit codes.
const (
	ExitDone        = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitNotFound    = 3
	ExitDamage      = 4
	ExitInterrupted = 130
)

// UsageError is a command line that cannot be understood.
type UsageError struct{ error }

// Usage makes an error a UsageError.
func Usage(err error) error { return UsageError{err} }

// Unwrap returns the cause.
func (e UsageError) Unwrap() error { return e.error }

// Hint adds the command to try next to an error; nil stays nil. The result has a method Hint, as errors of packages below
// may have.
func Hint(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return hintError{err, fmt.Sprintf(format, args...)}
}

type hintError struct {
	error
	hint string
}

// Unwrap returns the cause.
func (e hintError) Unwrap() error { return e.error }

// Hint returns the command to try.
func (e hintError) Hint() string { return e.hint }
