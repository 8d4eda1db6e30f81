// Package history answers questions about archived sessions: which one is meant, what a record or an ID stands for,
// what each turn did, what a file held.
//
// Invariant: it only reads. Nothing here writes to the archive, and no transcript or companion is opened: all that it
// tells is folded anew from the archive, one session at a time, in memory that does not grow with the session (of a file that is asked for, its text). It
// knows nothing of companions, of the daemon's state or of how answers are printed.
package history
