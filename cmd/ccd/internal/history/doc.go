// Package history answers questions about archived sessions: which session an argument names, what a record or an ID
// restores, what each turn did, what a file contained.
//
// Invariant: it only reads, and only the archive, never a transcript or companion. Each answer is folded from the archive,
// one session at a time, in memory that does not grow with the session, except for the text of a requested file. It knows
// nothing of companions, of the daemon's state or of how answers are printed.
package history
