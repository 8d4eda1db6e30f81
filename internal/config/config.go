// Package config reads ccd's configuration: defaults, then a strict TOML file, then the environment, then flags.
//
// It owns the keys, their units and their limits; its invariant is that nothing is taken silently: an unknown key, a
// wrong type or a value outside its limits is an error that names the place and, for keys, the nearest one that
// exists. config.toml.example is made of the same table. It holds plain values and knows nothing of what they are for.
package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"ccd/internal/ownfile"
)

// Config is the whole configuration. Start from Load.
type Config struct {
	Watch      Watch
	Trigger    Trigger
	Models     Models
	Compaction Compaction
	Companion  Companion
	Archive    Archive
	Summarizer Summarizer
	Agents     Agents
	Log        Log

	path    string            // the file that was read
	home    string            // what ~ stands for
	sources map[string]string // key -> where its value comes from; no entry: default
}

// Watch is [watch]: which transcripts are followed, and when a change counts.
type Watch struct {
	Roots        map[string][]string // agent -> directories, absolute, in addition to the agent's own
	Ignore       []string            // globs on the path below a root, or on the base name
	Settle       time.Duration
	MaxWait      time.Duration
	ScanInterval time.Duration
	Poll         bool
}

// Trigger is [trigger]: when a companion is first written.
type Trigger struct {
	Threshold  int64   // estimated tokens of the context; 0: "auto", from the model's window
	Pressure   float64 // part of the context window, 0..1
	MinSavings int64   // estimated tokens
}

// Models is [models]: what is known of models.
type Models struct {
	Windows map[string]int64 // prefix of a model's name -> context window in real tokens
}

// Compaction is [compaction]: the limits of the engine that a user would change.
type Compaction struct {
	RecentShare        float64 // part of the context that stays verbatim, 0..1
	RecentMessages     int
	RecentResults      time.Duration
	FileAge            time.Duration
	TalkAge            time.Duration
	OutputChars        int
	MicrocompactKeep   int // tool results
	MicrocompactTokens int // estimated tokens
	Dedup              bool
	NearDedup          bool
	Contradictions     bool
	KeepImportance     float64 // 0..1; 0: off
	// Of plain lists of messages.
	KeepRecent             int
	KeepRoles              []string
	KeepPatterns           []string // regular expressions
	NearThreshold          float64  // 0..1
	ContradictionThreshold float64  // 0..1
	LargeOutputTokens      int      // estimated tokens
	LargeOutputChars       int
	SummaryChars           int
	LongCap                string   // "off" or "log"
	RestoreFileTokens      int      // estimated tokens
	RestoreTotalTokens     int      // estimated tokens
	Off                    []string // strategies, as the compactor names them
}

// Companion is [companion]: where companions stand and what they hold.
type Companion struct {
	Dir            string // absolute; "": beside the transcript
	MaxTokens      int    // estimated tokens
	RefreshIdle    time.Duration
	RestoreFiles   int
	KeepAfterPurge time.Duration
	Host           string // "": the machine's name
}

// Archive is [archive]: the file that keeps the originals.
type Archive struct {
	Path    string // absolute; "": archive.db in the state directory
	MaxSize int64  // bytes; 0: no limit
	MinFree int64  // bytes
}

// Summarizer is [summarizer]: the command that writes summaries.
type Summarizer struct {
	Command []string // program and arguments; none: no command is ever run
	Timeout time.Duration
}

// Agents is [agents]: what agents may see.
type Agents struct {
	Reach string // ReachProject or ReachAll
}

// The values of agents.reach: an agent sees the sessions of its own project, or of all projects.
const (
	ReachProject = "project"
	ReachAll     = "all"
)

// Log is [log].
type Log struct {
	Level  string // "debug", "info", "warn", "error"
	Format string // "text", "json"
	File   string // absolute; "": stderr
}

// Value is one key as it is in force.
type Value struct {
	Key    string // "watch.settle"
	Value  any    // as in TOML: string, integer, float, bool, list or table; durations and sizes as strings
	Source string // "default", "FILE:LINE", "environment CCD_WATCH_SETTLE" or "flag"
}

// Load reads the configuration: the defaults, then file, then the environment (env as os.Environ gives it:
// CCD_SECTION_KEY; an empty one counts as not set). A file that does not exist is an error only if it was asked for
// by name (explicit). Errors name file, line, key and the nearest key, and never what the file says.
func Load(file string, explicit bool, env []string) (Config, error) {
	c := defaults()
	c.home = lookup(env, homeVariable)
	text, err := read(file)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !explicit:
	case err != nil:
		return Config{}, fmt.Errorf("read config %s: %w", file, cause(err))
	default:
		c.path = file
		if err := c.decode(string(text)); err != nil {
			return Config{}, fmt.Errorf("read config %s: %w", file, err)
		}
	}
	if err := c.environment(env); err != nil {
		return Config{}, fmt.Errorf("read environment: %w", err)
	}
	if err := c.check(); err != nil {
		return Config{}, fmt.Errorf("read config: %w", err)
	}
	return c, nil
}

// maxFile is what a configuration may have, in bytes.
const maxFile = 1 << 20

// read reads a file. What is none, and is named as such, may be read too, as /dev/null or what a shell makes of <(...).
func read(file string) ([]byte, error) {
	if file != os.DevNull && !strings.HasPrefix(file, "/dev/") {
		return ownfile.Read(file, maxFile)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("over %d bytes", maxFile)
	}
	return text, err
}

// Path returns the file that was read, "" where there was none.
func (c *Config) Path() string { return c.path }

// Set gives a key a value, as a flag does: "watch.settle", "5s". Lists are separated by commas; tables cannot be set.
func (c *Config) Set(key, value string) error {
	if err := c.set(key, fromText(value), "flag"); err != nil {
		return fmt.Errorf("set %s: %w", key, err)
	}
	if err := c.check(); err != nil {
		return fmt.Errorf("set %s: %w", key, err)
	}
	return nil
}

// Values lists every key in the order of the example, with where its value comes from.
func (c *Config) Values() []Value {
	var all []Value
	for _, s := range sections() {
		for _, k := range s.keys {
			name := s.name + "." + k.name
			all = append(all, Value{name, k.in(c).shown(), c.source(name)})
		}
	}
	return all
}

func (c *Config) source(key string) string {
	if s := c.sources[key]; s != "" {
		return s
	}
	return "default"
}

// set finds a key by its full name and gives it a value.
func (c *Config) set(name string, v any, source string) error {
	k, ok := find(name)
	if !ok {
		return unknownKey(name)
	}
	if err := k.in(c).set(v); err != nil {
		return err
	}
	c.sources[name] = source
	return nil
}

// environment takes CCD_SECTION_KEY. Other variables that begin with CCD_ are somebody else's.
func (c *Config) environment(env []string) error {
	names := map[string]string{} // variable -> key
	for _, s := range sections() {
		for _, k := range s.keys {
			if !k.table && s.name != "agents" { // who sets a variable for an agent must not widen its reach
				names[variable(s.name+"."+k.name)] = s.name + "." + k.name
			}
		}
	}
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		if value == "" || !ours(name) {
			continue
		}
		key, ok := names[name]
		if name == variable("agents.reach") {
			return reachVariable{}
		}
		if !ok {
			err := fmt.Errorf("%w %q", errUnknown, name)
			if near, _ := nearest(name, keysOf(names)); near != "" {
				err = fmt.Errorf("%w, the nearest is %q", err, near)
			}
			return err
		}
		if err := c.set(key, fromText(value), "environment "+name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// reachVariable is the error of a variable that would widen an agent's reach.
type reachVariable struct{}

// Error says what is wrong.
func (reachVariable) Error() string { return "agents.reach cannot be set in the environment" }

// Hint returns what to do about it.
func (reachVariable) Hint() string { return "unset " + variable("agents.reach") }

// variable is the environment's name of a key.
func variable(key string) string { return "CCD_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_")) }

// ours reports whether a variable has the form of a key of one of the sections.
func ours(name string) bool {
	for _, s := range sections() {
		if strings.HasPrefix(name, variable(s.name)+"_") {
			return true
		}
	}
	return false
}

func lookup(env []string, name string) string {
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v
		}
	}
	return ""
}

// check looks at what no single key can tell.
func (c *Config) check() error {
	if c.Watch.MaxWait < c.Watch.Settle {
		return fmt.Errorf("watch.max_wait (%s) is less than watch.settle (%s)", c.source("watch.max_wait"), c.source("watch.settle"))
	}
	return nil
}

// cause strips what an error says of the path: the caller names it.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
