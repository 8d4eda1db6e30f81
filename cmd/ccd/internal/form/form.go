// Package form prints a companion as a JSON object, and shortens plain lists of messages.
//
// Invariant: the object has the same content and IDs as the Markdown, and transcript text in it cannot pass for ccd's own; a
// list stays one. The package knows nothing of the archive, of files, or of how a companion is chosen.
package form

import (
	"ccd/compactor/sidecar"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// Document is a companion as JSON. Its keys are stable (docs/FORMAT.md).
type Document struct {
	Front    sidecar.Matter `json:"front_matter"`
	Lead     string         `json:"lead"` // the introduction
	Sections []section      `json:"sections"`
	Pointers []pointer      `json:"pointers"` // one for each ID in the sections, in order of appearance
}

type section struct {
	Name string `json:"name"`
	Body string `json:"body"`
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
func JSON(p sidecar.Parsed, known []transcript.Pointer) (Document, error) {
	f, err := p.Front()
	if err != nil {
		return Document{}, err
	}
	d := Document{Front: f, Lead: p.Lead, Sections: []section{}, Pointers: pointers(p, known)}
	for _, s := range p.Sections {
		d.Sections = append(d.Sections, section(s))
	}
	return d, nil
}

// pointers describes every ID in the sections, in order of appearance.
func pointers(p sidecar.Parsed, known []transcript.Pointer) []pointer {
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
				one.Kind, one.Record, one.Last, one.Note = kindOf(k), k.Record, k.Last, k.Note
			}
			all = append(all, one)
		}
	}
	return all
}

func kindOf(p transcript.Pointer) string {
	switch {
	case p.Shape == transcript.Lines:
		return "range"
	case p.Shape == transcript.List:
		return "list"
	case len(p.Parts) == 0:
		return ""
	}
	return p.Parts[0].Kind.String()
}
