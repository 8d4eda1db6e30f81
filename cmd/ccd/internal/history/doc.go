// Package history answers questions about archived sessions: which session an argument names, what a record or an ID
// restores, what each turn did, what a file contained.
//
// Invariant: it only reads, and only the archive, never a transcript or companion. Turns and files are read off the model of a
// session, and their texts by span. It knows nothing of companions, of the daemon's state or of how answers are printed.
package history
