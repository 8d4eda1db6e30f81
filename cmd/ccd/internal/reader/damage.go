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

// DamageOf is an error of the archive as it is listed.
func DamageOf(d *archive.DamageError) Damage {
	return Damage{Session: d.Session.ID, Generation: d.Generation, Offset: d.Offset, ID: d.ID, Cause: d.Error(), Brief: d.Brief()}
}

// Brief is damage as a line for people, where the archive's path is known.
func Brief(err error) string {
	if d := (*archive.DamageError)(nil); errors.As(err, &d) {
		return d.Brief()
	}
	return err.Error()
}

// DamagesOf returns all as they are listed; never nil, so that JSON has a list.
func DamagesOf(all []*archive.DamageError) []Damage {
	listed := []Damage{}
	for _, d := range all {
		listed = append(listed, DamageOf(d))
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
