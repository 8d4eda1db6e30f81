package fold

import (
	"ccd/compactor/prose"
	"ccd/internal/transcript"
)

// IsLookUp reports whether a command line only looks: lists, reads, searches or tests for existence.
func IsLookUp(command string) bool {
	return runOf(&transcript.Action{Op: transcript.Command, Command: command}).lookUp
}

// IsCorrection reports whether a sentence of a human corrects what was said or done before, by its words.
func IsCorrection(sentence string) bool { return prose.ShapeOf(sentence).Corrects() }

// IsConstraint reports whether a sentence of a human states what must hold, by its words.
func IsConstraint(sentence string) bool { return prose.ShapeOf(sentence).Constrains() }

// IsDecision reports whether a sentence tells that something was chosen, found or ruled out, by its words.
func IsDecision(sentence string) bool { return prose.ShapeOf(sentence).Decides() }
