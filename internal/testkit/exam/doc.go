//go:build !rig

// Package exam asks what texts about real sessions still hold: see exam.go, which needs the tag rig.
package exam
