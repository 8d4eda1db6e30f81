package reader

import (
	"errors"
	"fmt"

	"ccd/archive"
	"ccd/internal/mark"
)

// Damage is a damaged place of the archive, as --json lists it.
type Damage struct {
	Session    string  `json:"session"`
	Generation int     `json:"generation"`
	Offset     int64   `json:"offset"`
	ID         mark.ID `json:"id"`
	Companion  string  `json:"companion"`
	Cause      string  `json:"cause"`
	Brief      string  `json:"-"` // place and cause as a line for people
}

// Brief is damage as a line for people, where the archive's path is known.
func Brief(err error) string {
	if d := (*archive.DamageError)(nil); errors.As(err, &d) {
		return d.Brief()
	}
	return err.Error()
}

// DamagesOf returns the damage among errors as it is listed; never nil, so that JSON has a list.
func DamagesOf[E error](all []E) []Damage {
	listed := []Damage{}
	for _, err := range all {
		if d := (*archive.DamageError)(nil); errors.As(err, &d) {
			listed = append(listed, Damage{Session: d.Session.ID, Generation: d.Generation, Offset: d.Offset, ID: d.ID, Cause: d.Error(), Brief: d.Brief()})
		}
	}
	return listed
}

// Locked gives the error of a locked archive one form, whatever the command was about to read.
func Locked(err error) error {
	var locked *archive.LockedError
	if errors.As(err, &locked) {
		return fmt.Errorf("open archive: %w", locked)
	}
	return err
}
