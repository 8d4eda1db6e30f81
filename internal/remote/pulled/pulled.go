// Package pulled knows which machines' copies were pulled and where their archives are, where this machine's copy is, and how
// its last push ended. It makes no request and has no keys: ccd needs neither network nor encryption to read what was pulled.
package pulled

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/pflag"

	"ccd/internal/atomicfile"
	"ccd/internal/ownfile"
)

// Dir is the directory of a copy's state, below ccd's state directory.
const Dir = "remote"

// Identity is the file in Dir with the keys of a reader. A machine that only pushes has none.
const Identity = "identity.txt"

// maxFile is the size of a file of this package in bytes.
const maxFile = 8 << 20

// Machine is what a reader knows of a machine, as it was when it last looked.
type Machine struct {
	Machine  string    `json:"machine"`
	Label    string    `json:"label"` // host name
	Seq      int64     `json:"seq"`   // of its head: the number of the last pack
	Hash     []byte    `json:"hash"`
	Tag      string    `json:"tag,omitempty"` // of the head's object
	Time     time.Time `json:"time"`          // of the head, by the machine's clock
	Sessions int       `json:"sessions"`
	Bytes    int64     `json:"bytes"`  // of transcripts
	Pulled   time.Time `json:"pulled"` // when all packs were last here
	At       int64     `json:"at"`     // number of the last pack that is here
	Here     int       `json:"here"`   // sessions
}

// Machines is the directory below Dir that has the machines' archives.
func Machines(state string) string { return filepath.Join(state, Dir, "machines") }

// Archive returns the path of a machine's archive in the directory of machines.
func Archive(dir, machine string) string { return filepath.Join(dir, machine+".db") }

// Size returns the size of a machine's archive in bytes, 0 if there is none.
func Size(dir, machine string) int64 {
	info, err := os.Stat(Archive(dir, machine))
	if err != nil {
		return 0
	}
	return info.Size()
}

// List returns what was seen of all machines, by label. It fails if a file is damaged, as all that read here do.
func List(dir string) (all []Machine, err error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, fmt.Errorf("list machines: %w", err)
	}
	for _, name := range names {
		m, err := Read(dir, strings.TrimSuffix(filepath.Base(name), ".json"))
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b Machine) int {
		return cmp.Or(cmp.Compare(a.Label, b.Label), cmp.Compare(a.Machine, b.Machine))
	})
	return all, nil
}

// Find returns the machines with a label, or whose name begins with name (4 characters or more).
func Find(all []Machine, name string) (found []Machine) {
	for _, m := range all {
		if m.Label == name || len(name) >= 4 && strings.HasPrefix(m.Machine, name) {
			found = append(found, m)
		}
	}
	return found
}

// ShortName returns the name by which Find finds only this machine: its label, or the first 8 characters of its name if another
// machine has the same label, or the label cannot be typed.
func ShortName(all []Machine, m Machine) string {
	odd := func(r rune) bool { return !unicode.IsPrint(r) }
	if m.Label != "" && len(m.Label) <= 64 && !strings.ContainsFunc(m.Label, odd) && len(Find(all, m.Label)) == 1 {
		return m.Label
	}
	return m.Machine[:min(8, len(m.Machine))]
}

// File returns the path of the file with what was seen of a machine.
func File(dir, machine string) string { return filepath.Join(dir, machine+".json") }

// Read returns what was seen of a machine; of one that was not seen, only its name.
func Read(dir, machine string) (m Machine, err error) {
	err = read(File(dir, machine), "state of machine "+machine, &m)
	m.Machine = machine
	return m, err
}

// Write stores what was seen of a machine.
func Write(dir string, m Machine) error {
	return write(File(dir, m.Machine), "state of machine "+m.Machine, m)
}

// Settings say where the copy is, and who can read it. Credentials are never among them.
type Settings struct {
	URL        string   `json:"url"`
	Endpoint   string   `json:"endpoint,omitempty"`
	Region     string   `json:"region,omitempty"`
	Recipients []string `json:"recipients"`
}

// SettingsFile is the file of Settings in Dir. It exists from `ccd remote add` to `ccd remote remove`.
const SettingsFile = "remote.json"

// ReadSettings returns the settings; the zero Settings if there are none. dir is Dir below the state directory.
func ReadSettings(dir string) (s Settings, err error) {
	err = read(filepath.Join(dir, SettingsFile), "settings of the remote", &s)
	return s, err
}

// WriteSettings stores the settings.
func WriteSettings(dir string, s Settings) error {
	return write(filepath.Join(dir, SettingsFile), "settings of the remote", s)
}

// Push is how the last pushes of this machine ended.
type Push struct {
	URL     string    `json:"url"`
	Machine string    `json:"machine"`
	Tried   time.Time `json:"tried"`
	Pushed  time.Time `json:"pushed"` // the last success
	Error   string    `json:"error"`
	Hint    string    `json:"hint"`    // what to do about the error
	Exit    int       `json:"exit"`    // exit code of the last one
	Damaged int       `json:"damaged"` // sessions that could not be read
	Behind  Lag       `json:"behind"`  // after the last one
}

// Flags are those of `ccd remote`, which passes them on to the program that has the network client.
type Flags struct {
	Endpoint, Region, Identity, Machine string
	Recipients                          []string
	Grace                               time.Duration
	Sample                              int
	All                                 bool
}

// Add adds the flags.
func (f *Flags) Add(to *pflag.FlagSet) {
	to.SortFlags = false
	to.StringVar(&f.Endpoint, "endpoint", "", "add: the server's `URL` (default: Amazon's)")
	to.StringVar(&f.Region, "region", "", "add: the bucket's `REGION`")
	to.StringArrayVar(&f.Recipients, "recipient", nil, "add: encrypt to `KEY` (age1...), too; repeatable")
	to.StringVar(&f.Identity, "identity", "", "pull, check: use the keys in `FILE`; keys: adopt them")
	to.StringVar(&f.Machine, "machine", "", "pull: only the machine `NAME`, also this one")
	to.DurationVar(&f.Grace, "grace", 7*24*time.Hour, "gc: the `TIME` that objects stay after nothing names them")
	to.BoolVar(&f.All, "all", false, "gc: write everything again")
	to.IntVar(&f.Sample, "sample", 0, "check: read `N` packs of each machine (-1: all)")
}

// Lag is what was not pushed yet.
type Lag struct {
	Sessions int   `json:"sessions"`
	Bytes    int64 `json:"bytes"` // of transcripts
}

const pushFile = "status.json"

// ReadPush returns how the last push ended; the zero Push if there was none. dir is Dir below the state directory.
func ReadPush(dir string) (p Push, err error) {
	err = read(filepath.Join(dir, pushFile), "result of the last push", &p)
	return p, err
}

// WritePush stores how a push ended.
func WritePush(dir string, p Push) error {
	return write(filepath.Join(dir, pushFile), "result of the last push", p)
}

// read decodes a file, if it exists. what is in its errors.
func read(path, what string, v any) error {
	b, err := ownfile.Read(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(b, v)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", what, err)
	}
	return nil
}

func write(path, what string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err == nil {
		err = atomicfile.Write(path, 0o600, append(b, '\n'))
	}
	if err != nil {
		return fmt.Errorf("store %s: %w", what, err)
	}
	return nil
}
