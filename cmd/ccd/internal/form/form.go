// Package form prints a companion as a JSON object, and shortens plain lists of messages.
//
// Invariant: the object has the same content and IDs as the Markdown, and transcript text in it cannot pass for ccd's own; a
// list stays one. The package knows nothing of the archive, of files, or of how a companion is chosen.
package form

import (
	"strconv"

	"ccd/compactor"
	"ccd/compactor/sidecar"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// Document is a companion as JSON. Its keys are stable (docs/FORMAT.md).
type Document struct {
	Front    frontMatter `json:"front_matter"`
	Lead     string      `json:"lead"` // the introduction
	Sections []section   `json:"sections"`
	Pointers []pointer   `json:"pointers"` // one for each ID in the sections, in order of appearance
}

type frontMatter struct {
	CCD       int64              `json:"ccd"`
	Rules     int64              `json:"rules"`
	Options   string             `json:"options"`
	Manual    *manual            `json:"manual"` // null if no options were set by hand
	Agent     string             `json:"agent"`
	Session   string             `json:"session"`
	Parent    string             `json:"parent"`
	Source    string             `json:"source"`
	Covers    covers             `json:"covers"`
	Model     string             `json:"model"`
	Window    int64              `json:"context_window"`
	Assumed   bool               `json:"context_window_assumed"`
	Outliers  compactor.Outliers `json:"outliers"`
	Pressure  float64            `json:"pressure"`
	Level     string             `json:"level"`
	Tokens    tokens             `json:"tokens"`
	Knowledge knowledge          `json:"key_information"`
	Redacted  []redacted         `json:"redacted"`
	Verified  bool               `json:"verified"`
	Reason    string             `json:"reason"`
}

type manual struct {
	Focus     []string `json:"focus"`
	MaxTokens int      `json:"max_tokens"`
}

type covers struct {
	Records int    `json:"records"`
	Bytes   int64  `json:"bytes"`
	SHA256  string `json:"sha256"`
}

type tokens struct {
	Original  int64   `json:"original"`
	Companion int64   `json:"companion"`
	Saved     float64 `json:"saved_percent"`
	Estimator string  `json:"estimator"`
	About     int64   `json:"about"` // 0 in a companion written by an older ccd
	Reported  int64   `json:"reported"`
}

type knowledge struct {
	Visible     int `json:"visible"`
	Recoverable int `json:"recoverable"`
	Lost        int `json:"lost"`
}

// redacted counts different secrets that the session has and the text does not show.
type redacted struct {
	Kind    string `json:"kind"`
	Secrets int    `json:"secrets"`
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
	d := Document{Front: matter(p, f), Lead: p.Lead, Sections: []section{}, Pointers: pointers(p, known)}
	for _, s := range p.Sections {
		d.Sections = append(d.Sections, section(s))
	}
	return d, nil
}

func matter(p sidecar.Parsed, f sidecar.Front) frontMatter {
	version, _ := strconv.ParseInt(p.Fields["ccd"], 10, 64) // Front has checked everything else
	rules, _ := strconv.ParseInt(p.Fields["rules"], 10, 64)
	m := frontMatter{
		CCD: version, Rules: rules, Options: f.Options, Agent: f.Agent, Session: mark.Name(f.Session), Parent: mark.Name(f.Parent), Source: mark.Name(f.Source),
		Covers: covers{f.Records, f.Bytes, f.Sum.String()},
		Model:  f.Model, Window: f.Window, Assumed: f.Assumed, Outliers: f.Outliers, Pressure: f.Pressure, Level: f.Level.String(),
		Tokens:    tokens{f.Tokens.Original, f.Tokens.Companion, f.Tokens.SavedPercent, "chars*4/3", f.About, f.Tokens.Reported},
		Knowledge: knowledge(f.KeyInformation), Redacted: []redacted{}, Verified: f.Verified, Reason: f.Reason,
	}
	for _, one := range f.Secrets {
		m.Redacted = append(m.Redacted, redacted{one.Kind, one.N})
	}
	if !f.Manual.IsZero() {
		m.Manual = &manual{Focus: append([]string{}, f.Manual.Focus...), MaxTokens: f.Manual.MaxTokens}
	}
	return m
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
