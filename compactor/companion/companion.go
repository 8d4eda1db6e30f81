// Package companion handles the companion as a file: its name, its Markdown, and its atomic replacement.
//
// Invariant: a companion is complete or absent, and a file that ccd did not write is never touched, whatever its name. The
// package recognizes ccd's files (Is, Ours) and parses their front matter. It knows nothing of the archive or of how agents
// write transcripts. docs/FORMAT.md is the specification.
package companion

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"ccd/internal/atomicfile"
	"ccd/internal/transcript"
)

// Suffix ends the name of every companion. It is never a second *.jsonl: agents list those as sessions.
const Suffix = ".ccd.md"

// perm is the mode of companions, which are as private as transcripts.
const perm fs.FileMode = 0o600

// magic begins every companion and no other file that ccd could find there.
const magic = "---\nccd: "

// maxName is the longest file name on common file systems, in bytes.
const maxName = 255

// ErrForeign reports that a file with a companion's name was not written by ccd. ccd leaves it alone.
var ErrForeign = errors.New("a file of that name exists that ccd did not write")

// Is reports whether a file name is that of a companion, possibly a temporary one.
func Is(name string) bool {
	base := filepath.Base(name)
	return strings.HasSuffix(base, Suffix) || strings.HasPrefix(base, ".ccd-")
}

// Path returns the path of the companion of s: beside its transcript, or in the same tree below dir/AGENT.
func Path(s transcript.Session, dir string) string {
	if dir == "" {
		return place(s.Path)
	}
	return filepath.Join(dir, s.Agent, place(filepath.FromSlash(s.Source)))
}

// place returns the path of a transcript with a companion's name instead of its own. A name that is too long for file systems
// is cut and ends with a hash of the whole name.
func place(path string) string {
	path = stem(path)
	base := filepath.Base(path)
	if len(base)+len(Suffix) <= maxName {
		return path + Suffix
	}
	hash := fmt.Sprintf("~%x", sha256.Sum256([]byte(base)))[:17]
	kept := base[:maxName-len(Suffix)-len(hash)]
	for utf8.ValidString(base) && !utf8.ValidString(kept) {
		kept = kept[:len(kept)-1]
	}
	return filepath.Join(filepath.Dir(path), kept+hash+Suffix)
}

func stem(path string) string {
	path, _ = transcript.Unpacked(path)
	return strings.TrimSuffix(path, ".jsonl")
}

// Ours reports whether ccd wrote the file at path. It fails with fs.ErrNotExist if there is none.
func Ours(path string) (bool, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return false, err
	}
	if !info.Mode().IsRegular() {
		return false, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, len(magic))
	n, _ := f.Read(head)
	return bytes.Equal(head[:n], []byte(magic)), nil
}

// there is like Ours but returns false without an error if there is no file.
func there(path string) (bool, error) {
	ours, err := Ours(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return ours, err
}

// Prepare writes doc durably beside path. Commit on the result replaces the companion. It fails with ErrForeign if the file at
// path was not written by ccd.
func Prepare(path string, doc []byte) (*atomicfile.Pending, error) {
	if err := checkTarget(path); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make companion directory: %w", err)
	}
	return atomicfile.Prepare(path, perm, doc)
}

func checkTarget(path string) error {
	switch ours, err := Ours(path); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("check companion: %w", err)
	case !ours:
		return fmt.Errorf("write companion %s: %w", path, ErrForeign)
	}
	return nil
}

// Copy copies a companion. It does nothing if there is none at from or ccd did not write it.
func Copy(from, to string) error {
	if ours, err := there(from); !ours {
		return err
	}
	doc, err := os.ReadFile(from)
	if err != nil {
		return fmt.Errorf("copy companion: %w", err)
	}
	p, err := Prepare(to, doc)
	if err != nil {
		return err
	}
	defer p.Discard()
	return p.Commit()
}

// Remove removes a companion. It does nothing if there is none or ccd did not write it.
func Remove(path string) error {
	if ours, err := there(path); !ours {
		return err
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("remove companion: %w", err)
	}
	return nil
}
