// Package config reads ccd's configuration: defaults, then a strict TOML file, then the environment.
//
// It owns the keys, their units and their limits; its invariant is that nothing is taken silently: an unknown key, a
// wrong type or a value outside its limits is an error that names the place and, for keys, the nearest one that
// exists. The fields of Config are the keys; default.toml, which config.toml.example copies, has their defaults and
// meanings. The package holds plain values and knows nothing of what they are for.
package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"ccd/internal/ownfile"
	"ccd/internal/summarizer"
)

// Config is the whole configuration. Use Load to get one. The fields are in the order of the keys in the example, and rules.go has the
// values that each may have.
type Config struct {
	Watch      Watch      `toml:"watch"`
	Trigger    Trigger    `toml:"trigger"`
	Models     Models     `toml:"models"`
	Compaction Compaction `toml:"compaction"`
	Companion  Companion  `toml:"companion"`
	Live       Live       `toml:"live"`
	Archive    Archive    `toml:"archive"`
	Summarizer Summarizer `toml:"summarizer"`
	Agents     Agents     `toml:"agents"`
	Redact     Redact     `toml:"redact"`
	Log        Log        `toml:"log"`

	path    string            // the file that was read
	home    string            // what ~ stands for
	sources map[string]string // key -> source of its value; no entry means default
}

// Watch is [watch]: which transcripts are followed, and when a change counts.
type Watch struct {
	Ignore       []string            `toml:"ignore"` // globs on the path below a root, or on the base name
	Settle       Duration            `toml:"settle"`
	MaxWait      Duration            `toml:"max_wait"`
	ScanInterval Duration            `toml:"scan_interval"`
	Poll         bool                `toml:"poll"`
	Roots        map[string][]string `toml:"roots"` // agent -> directories, absolute, in addition to the agent's own
}

// Trigger is [trigger]: when a companion is first written.
type Trigger struct {
	Threshold  Size    `toml:"threshold"`   // estimated tokens of the context; "auto": from the model's window
	Pressure   float64 `toml:"pressure"`    // part of the context window, 0..1
	MinSavings int64   `toml:"min_savings"` // estimated tokens
}

// Models is [models]: facts about models.
type Models struct {
	Windows map[string]int64     `toml:"windows"` // prefix of a model's name -> context window in real tokens
	Prices  map[string][]float64 `toml:"prices"`  // prefix of a model's name -> see Price
}

// Compaction is [compaction]: the limits of the engine that a user would change.
type Compaction struct {
	FileAge            Duration `toml:"file_age"`
	TalkAge            Duration `toml:"talk_age"`
	Classes            [3]int   `toml:"classes"`             // percent
	MicrocompactTokens int      `toml:"microcompact_tokens"` // estimated tokens
	LargeOutputTokens  int      `toml:"large_output_tokens"` // estimated tokens; 0: no output is large
	Dedup              bool     `toml:"dedup"`
	NearDedup          bool     `toml:"near_dedup"`
	Contradictions     bool     `toml:"contradictions"`
	KeepImportance     float64  `toml:"keep_importance"` // 0..1; 0: off
	LongCap            string   `toml:"long_cap"`
}

// Companion is [companion]: where companions are written and what they contain.
type Companion struct {
	Dir            string   `toml:"dir"`        // absolute; "": beside the transcript
	MaxTokens      Size     `toml:"max_tokens"` // estimated tokens, or a part of the session's
	RefreshIdle    Duration `toml:"refresh_idle"`
	KeepAfterPurge Duration `toml:"keep_after_purge"`
	Host           string   `toml:"host"` // "": the machine's name
}

// Live is [live]: what ccd changes in an agent's context.
type Live struct {
	Compaction   bool `toml:"compaction"`
	Text         Size `toml:"text"`     // of what is older than the newest messages
	Verbatim     Size `toml:"verbatim"` // of the context
	Target       Size `toml:"target"`   // a part of the context
	RestoreFiles int  `toml:"restore_files"`

	Clients []string `toml:"clients"` // that ask ccd on loopback for their summaries
}

// Archive is [archive]: the file with the originals.
type Archive struct {
	Path    string `toml:"path"`     // absolute; "": archive.db in the state directory
	MaxSize Bytes  `toml:"max_size"` // 0: no limit
	MinFree Bytes  `toml:"min_free"`
}

// Summarizer is [summarizer]: the command that writes summaries.
type Summarizer struct {
	Command []string `toml:"command"` // program and arguments; none: no command is ever run
	Timeout Duration `toml:"timeout"`
}

// RunsCommands reports whether the daemon may start a program.
func (c Config) RunsCommands() bool { return len(c.Summarizer.Command) > 0 }

// Agents is [agents]: what agents may see, and additional agents.
type Agents struct {
	Reach   string           `toml:"reach"`   // ReachProject or ReachAll
	Formats map[string]Lists `toml:"formats"` // by the name of the agent
}

// Lists says where an agent's lists of messages are.
type Lists struct {
	Roots []string `toml:"roots"` // absolute
	Glob  string   `toml:"glob"`  // matched against the path below a root and against the name; "": *.jsonl
}

// The values of agents.reach: an agent sees the sessions of its own project, or of all projects.
const (
	ReachProject = "project"
	ReachAll     = "all"
)

// Redact is [redact]: which secrets ccd leaves out of what it shows.
type Redact struct {
	Secrets bool              `toml:"secrets"` // false: show all
	Allow   []string          `toml:"allow"`   // regular expressions
	Rules   map[string]string `toml:"rules"`   // regular expressions by kind
}

// Log is [log].
type Log struct {
	Level  string `toml:"level"`
	Format string `toml:"format"`
	File   string `toml:"file"` // absolute; "": stderr
}

// Value is the effective value of one key.
type Value struct {
	Key    string `json:"key"`    // "watch.settle"
	Value  any    `json:"value"`  // as in TOML: string, integer, float, bool, list or table; durations and sizes as strings
	Source string `json:"source"` // "default", "FILE:LINE" or "environment CCD_WATCH_SETTLE"
}

// Load reads the configuration: the defaults, then file, then the environment (env as from os.Environ: CCD_SECTION_KEY;
// an empty value counts as unset). A missing file is only an error if it was requested explicitly. Errors contain file,
// line, key and the nearest key, and nothing else of the file's content.
func Load(file string, explicit bool, env []string) (Config, error) {
	home := ""
	for _, e := range env {
		if value, ok := strings.CutPrefix(e, HomeVariable()+"="); ok && home == "" {
			home = value
		}
	}
	c := defaults(home)
	text, err := read(file)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !explicit:
	case err != nil:
		if p := new(fs.PathError); errors.As(err, &p) {
			err = p.Err // it names the file too
		}
		return Config{}, fmt.Errorf("read config %s: %w", file, err)
	default:
		if err := c.decode(string(text), file); err != nil {
			return Config{}, fmt.Errorf("read config %s: %w", file, err)
		}
		c.path = file
	}
	if err := c.environment(env); err != nil {
		return Config{}, fmt.Errorf("read environment: %w", err)
	}
	return c, nil
}

// defaults returns a configuration of its own with the values of the example.
func defaults(home string) Config {
	c := Config{home: home, sources: map[string]string{}}
	if err := c.decode(example, ""); err != nil {
		panic("default.toml: " + err.Error()) // a test would have found it
	}
	return c
}

// read reads a file. It accepts irregular files such as /dev/null or a shell's <(...).
func read(file string) ([]byte, error) {
	if strings.HasPrefix(file, "/dev/") && !strings.HasPrefix(file, "/dev/shm/") {
		return os.ReadFile(file)
	}
	return ownfile.Read(file, 64<<10)
}

// Path returns the file that was read, "" if none.
func (c *Config) Path() string { return c.path }

// Values returns every key in the order of the example, with the source of its value.
func (c *Config) Values() []Value {
	var all []Value
	for _, k := range c.keys() {
		all = append(all, Value{k.String(), shown(k.field), c.Source(k.String())})
	}
	return all
}

// Source returns where the value of a key comes from, as in Value.
func (c *Config) Source(key string) string { return cmp.Or(c.sources[key], "default") }

// environment applies CCD_SECTION_KEY. It ignores other variables that begin with CCD_.
func (c *Config) environment(env []string) error {
	keys := map[string]key{}
	var sections []string
	for _, k := range c.keys() {
		sections = append(sections, Variable(k.section))
		if k.field.Kind() != reflect.Map {
			keys[Variable(k.String())] = k
		}
	}
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		k, ok := keys[name]
		ours := slices.ContainsFunc(sections, func(s string) bool { return strings.HasPrefix(name+"_", s+"_") })
		switch {
		case value == "" || !ours || name == summarizer.Variable:
			continue
		case k.String() == "agents.reach": // an environment must not give an agent more reach
			return fmt.Errorf("%s: agents.reach cannot be set in the environment", name)
		case !ok:
			return fmt.Errorf("%s: %w", name, unknown("key", name, slices.Sorted(maps.Keys(keys))))
		}
		err := c.decode("["+k.section+"]\n"+k.name+" = "+k.inTOML(value), "")
		if f := new(fault); errors.As(err, &f) { // the line is not the person's
			err = f.err
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		c.sources[k.String()] = "environment " + name
	}
	return nil
}

// Variable is the environment's name of a key.
func Variable(key string) string { return "CCD_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_")) }
