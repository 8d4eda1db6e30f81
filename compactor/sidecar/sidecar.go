// Package sidecar owns the companion as a file: its name, its Markdown, and its replacement in one step.
//
// Invariant: a companion is whole or absent, and a file that is not ours is never touched, whatever its name. The
// package knows its own files (Is, Ours) and what stands in their front matter; it knows nothing of the archive or of
// how agents write transcripts. docs/FORMAT.md is the specification.
package sidecar

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// perm is the mode of companions: they hold what transcripts hold.
const perm fs.FileMode = 0o600

// magic begins every companion, and nothing else that ccd would meet.
const magic = "---\nccd: "

// maxName is how long a file's name may be on the file systems in use, in bytes.
const maxName = 255

// maxFront is how far, in bytes, front matter is looked for its keys.
const maxFront = 1 << 16

// ErrForeign tells that a file with a companion's name was not written by ccd. It is left alone.
var ErrForeign = errors.New("a file of that name is not ours")

// Is reports whether a file of this name is a companion or one on its way to become one.
func Is(name string) bool {
	base := filepath.Base(name)
	return strings.HasSuffix(base, Suffix) || strings.HasPrefix(base, ".ccd-")
}

// Path returns where the companion of s stands: beside its transcript, or in the same tree below dir/AGENT.
func Path(s transcript.Session, dir string) string {
	if dir == "" {
		return place(s.Path)
	}
	return filepath.Join(dir, s.Agent, place(filepath.FromSlash(s.Source)))
}

// place is the path of a transcript with a companion's name instead of its own. Where that would be longer than file
// systems take, it is cut, and a hash of the whole stands at its end.
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
	return strings.TrimSuffix(strings.TrimSuffix(path, ".zst"), ".jsonl")
}

// Ours reports whether the file at path is a companion that ccd wrote. It fails with fs.ErrNotExist where there is none.
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

// Source returns the path of the transcript, below its agent's home, that the companion at path names in its front
// matter: "" where it names none.
func Source(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("read companion: %w", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(io.LimitReader(f, maxFront))
	lines.Scan() // the mark that front matter begins with
	for lines.Scan() && lines.Text() != "---" {
		if val, ok := strings.CutPrefix(lines.Text(), "source: "); ok {
			if plain := ""; json.Unmarshal([]byte(val), &plain) == nil {
				return plain, nil
			}
			return val, nil
		}
	}
	if err := lines.Err(); err != nil && !errors.Is(err, bufio.ErrTooLong) {
		return "", fmt.Errorf("read companion: %w", err)
	}
	return "", nil
}

// Named reports whether a file has the name that a companion of the transcript source has.
func Named(path, source string) bool {
	return source != "" && filepath.Base(path) == filepath.Base(place(filepath.FromSlash(source)))
}

// Prepare writes doc beside path, durable but not yet in place: Commit of what it returns replaces the companion.
// It fails with ErrForeign where a file that is not ours stands at path.
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

// Copy writes a companion of ours at another place too. Where there is none at from, or one that is not ours, it does nothing.
func Copy(from, to string) error {
	if ours, err := Ours(from); err != nil || !ours {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
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

// Remove removes a companion of ours; where there is none, or one that is not ours, it does nothing.
func Remove(path string) error {
	if ours, err := Ours(path); err != nil || !ours {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("remove companion: %w", err)
	}
	return nil
}
