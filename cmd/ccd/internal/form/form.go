// Package form prints a companion as a JSON object, and shortens plain lists of messages.
//
// Invariant: the object has the same content and IDs as the Markdown, and transcript text in it cannot pass for ccd's own; a
// list stays one. The package knows nothing of the archive, of files, or of how a companion is chosen.
package form

import (
	"ccd/compactor"
	"ccd/compactor/companion"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// Document is a companion as JSON. Its keys are stable (docs/FORMAT.md).
type Document struct {
	Front    companion.Matter    `json:"front_matter"`
	Lead     string              `json:"lead"` // the introduction
	Sections []compactor.Section `json:"sections"`
	Pointers []pointer           `json:"pointers"` // one for each ID in the sections, in order of appearance
}

type pointer struct {
	ID     mark.ID `json:"id"`
	Kind   string  `json:"kind"`   // of the item, or "range" or "list"; "" if unknown
	Record int     `json:"record"` // the first one, 0 if unknown
	Last   int     `json:"last_record"`
	Note   string  `json:"note"`
}

// JSON converts a companion to an object. known lists the originals of its IDs as far as they are known, in any order. It
// fails if the front matter is invalid.
func JSON(p companion.Parsed, known []transcript.Pointer) (Document, error) {
	f, err := p.Front()
	if err != nil {
		return Document{}, err
	}
	return Document{Front: f, Lead: p.Lead, Sections: append([]compactor.Section{}, p.Sections...), Pointers: pointers(p, known)}, nil
}

// pointers describes every ID in the sections, in order of appearance.
func pointers(p companion.Parsed, known []transcript.Pointer) []pointer {
	at := make(map[mark.ID]transcript.Pointer, len(known))
	for _, k := range known {
		at[k.Hash.ID()] = k
	}
	all, seen := []pointer{}, map[mark.ID]bool{}
	for _, s := range p.Sections {
		for _, id := range mark.IDs(s.Body) {
			if seen[id] {
				continue
			}
			seen[id] = true
			one := pointer{ID: id}
			if k, ok := at[id]; ok {
				one.Kind, one.Record, one.Last, one.Note = k.Kind(), k.Record, k.Last, k.Note
			}
			all = append(all, one)
		}
	}
	return all
}
