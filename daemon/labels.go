package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"ccd/archive"
	"ccd/internal/transcript"
)

// Labels are what a user has set to find a session again. They are stored with the session's state, so that a backup
// contains them and a rewritten transcript keeps them.
type Labels struct {
	Pinned bool     `json:"pinned,omitempty"` // the companion does not expire
	Name   string   `json:"name,omitempty"`   // shown instead of the agent's title
	Tags   []string `json:"tags,omitempty"`   // sorted, without duplicates
}

// The longest name and tag, in characters.
const (
	maxName = 120
	maxTag  = 40
)

// IsZero reports whether no label is set.
func (l Labels) IsZero() bool { return !l.Pinned && l.Name == "" && len(l.Tags) == 0 }

// Named returns l with the given name ("" for none). It fails if the name does not fit on one line.
func (l Labels) Named(name string) (Labels, error) {
	name = strings.TrimSpace(name)
	if err := label(name, maxName, unicode.IsPrint); err != nil {
		return l, fmt.Errorf("name %q: %w", name, err)
	}
	l.Name = name
	return l, nil
}

// Tagged returns l with the tags added, or removed if remove is set. Tags are lower-case. It fails for a tag with other characters.
func (l Labels) Tagged(tags []string, remove bool) (Labels, error) {
	all := slices.Clone(l.Tags)
	for _, t := range tags {
		t = strings.ToLower(t)
		err := label(t, maxTag, func(r rune) bool { return unicode.IsPrint(r) && r != ' ' && r != ',' })
		if err == nil && t == "" {
			err = errors.New("it is empty")
		}
		if err != nil {
			return l, fmt.Errorf("tag %q: %w", t, err)
		}
		at, has := slices.BinarySearch(all, t)
		switch {
		case remove && has:
			all = slices.Delete(all, at, at+1)
		case !remove && !has:
			all = slices.Insert(all, at, t)
		}
	}
	l.Tags = all
	return l, nil
}

// label fails if a text is too long or contains other characters than the allowed ones.
func label(text string, limit int, allowed func(rune) bool) error {
	if n := utf8.RuneCountInString(text); n > limit {
		return fmt.Errorf("%d characters, at most %d are allowed", n, limit)
	}
	for _, r := range text {
		if r == utf8.RuneError || !allowed(r) {
			return fmt.Errorf("the character %q is not allowed", r)
		}
	}
	return nil
}

// Label changes the labels of an archived session. A daemon may run meanwhile: when it next stores the session's state,
// it notices the change and loads the state again. It fails with archive.ErrNotFound, or as change does.
func Label(ctx context.Context, a *archive.Archive, k transcript.Key, change func(Labels) (Labels, error)) error {
	return retryRaces(ctx, func() error {
		s, err := a.Last(ctx, k)
		if err == nil {
			err = s.StateDamage
		}
		if err != nil {
			return err
		}
		state, err := DecodeState(s.State)
		if err != nil {
			return err
		}
		if state.Labels, err = change(state.Labels); err != nil {
			return err
		}
		raw := state.Encode()
		if bytes.Equal(raw, s.State) {
			return nil
		}
		return a.Publish(ctx, archive.Publication{Key: k, At: s.Tip(), State: s.State, Replace: func() ([]byte, error) { return raw, nil }})
	})
}
