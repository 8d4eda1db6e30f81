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
	"sync"
	"time"

	"ccd/internal/agent/generic"
	"ccd/internal/ownfile"
)

// Config is the whole configuration. Use Load to get one. Its fields are the keys, in the order of the example; their
// tags restrict the values (see rule).
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
	Ignore       []string            `toml:"ignore" is:"glob"` // on the path below a root, or on the base name
	Settle       time.Duration       `toml:"settle" min:"10ms"`
	MaxWait      time.Duration       `toml:"max_wait" min:"10ms"`
	ScanInterval time.Duration       `toml:"scan_interval" min:"1s"`
	Poll         bool                `toml:"poll"`
	Roots        map[string][]string `toml:"roots" is:"path"` // agent -> directories, absolute, in addition to the agent's own
}

// Trigger is [trigger]: when a companion is first written.
type Trigger struct {
	Threshold  int64   `toml:"threshold" is:"auto"`    // estimated tokens of the context; 0: "auto", from the model's window
	Pressure   float64 `toml:"pressure" is:"positive"` // part of the context window, 0..1
	MinSavings int64   `toml:"min_savings"`            // estimated tokens
}

// Models is [models]: facts about models.
type Models struct {
	Windows map[string]int64  `toml:"windows" min:"1"`   // prefix of a model's name -> context window in real tokens
	Prices  map[string]string `toml:"prices" is:"price"` // prefix of a model's name -> see Price
}

// Compaction is [compaction]: the limits of the engine that a user would change.
type Compaction struct {
	FileAge            time.Duration `toml:"file_age"`
	TalkAge            time.Duration `toml:"talk_age"`
	Classes            [3]int        `toml:"classes"` // percent
	RecentMessages     int           `toml:"recent_messages"`
	MicrocompactKeep   int           `toml:"microcompact_keep"`   // tool results
	MicrocompactTokens int           `toml:"microcompact_tokens"` // estimated tokens
	Dedup              bool          `toml:"dedup"`
	NearDedup          bool          `toml:"near_dedup"`
	Contradictions     bool          `toml:"contradictions"`
	KeepImportance     float64       `toml:"keep_importance"` // 0..1; 0: off
	// Of plain lists of messages.
	KeepRecent             int      `toml:"keep_recent"`
	KeepRoles              []string `toml:"keep_roles"`
	KeepPatterns           []string `toml:"keep_patterns" is:"regexp"`
	NearThreshold          float64  `toml:"near_threshold" is:"positive"`          // 0..1
	ContradictionThreshold float64  `toml:"contradiction_threshold" is:"positive"` // 0..1
	LargeOutputTokens      int      `toml:"large_output_tokens"`                   // estimated tokens
	LargeOutputChars       int      `toml:"large_output_chars"`
	SummaryChars           int      `toml:"summary_chars" min:"100"`
	LongCap                string   `toml:"long_cap" of:"off log"`
}

// Companion is [companion]: where companions are written and what they contain.
type Companion struct {
	Dir            string        `toml:"dir" is:"path"`         // absolute; "": beside the transcript
	MaxTokens      Size          `toml:"max_tokens" min:"2000"` // estimated tokens, or a part of the session's
	RefreshIdle    time.Duration `toml:"refresh_idle" min:"10ms"`
	KeepAfterPurge time.Duration `toml:"keep_after_purge"`
	Host           string        `toml:"host"` // "": the machine's name
}

// Live is [live]: what ccd changes in an agent's context.
type Live struct {
	Compaction   bool    `toml:"compaction"`
	Text         Size    `toml:"text" of:"auto ladder"` // of what is older than the newest messages
	Verbatim     Size    `toml:"verbatim" of:"auto"`    // of the context
	Target       float64 `toml:"target" is:"percent"`   // of the context, above 0 and at most 1
	RestoreFiles int     `toml:"restore_files" max:"5"`
	Outputs      bool    `toml:"outputs"`
}

// Size is a number, a part of something, or a word. The zero Size is "auto".
type Size struct {
	N    int
	Part float64 // above 0 and at most 1
	Word string
}

// Archive is [archive]: the file with the originals.
type Archive struct {
	Path    string `toml:"path" is:"path"`     // absolute; "": archive.db in the state directory
	MaxSize int64  `toml:"max_size" is:"size"` // bytes; 0: no limit
	MinFree int64  `toml:"min_free" is:"size"` // bytes

	// What `ccd archive gc` removes.
	Keep     time.Duration `toml:"keep"`                // since a session was last active; 0: forever
	KeepSize int64         `toml:"keep_size" is:"size"` // bytes of the archive; 0: no limit
}

// Summarizer is [summarizer]: the command that writes summaries.
type Summarizer struct {
	Command []string      `toml:"command" is:"command"` // program and arguments; none: no command is ever run
	Timeout time.Duration `toml:"timeout" min:"1s"`
}

// RunsCommands reports whether the daemon may start a program.
func (c Config) RunsCommands() bool { return len(c.Summarizer.Command) > 0 }

// Agents is [agents]: what agents may see, and additional agents.
type Agents struct {
	Reach   string                   `toml:"reach" of:"project all"` // ReachProject or ReachAll
	Formats map[string]generic.Agent `toml:"formats"`                // by the name of the agent
}

// The values of agents.reach: an agent sees the sessions of its own project, or of all projects.
const (
	ReachProject = "project"
	ReachAll     = "all"
)

// Redact is [redact]: which secrets ccd leaves out of what it shows.
type Redact struct {
	Secrets bool              `toml:"secrets"` // false: show all
	Allow   []string          `toml:"allow" is:"regexp"`
	Rules   map[string]string `toml:"rules" is:"regexp"` // by kind
}

// Log is [log].
type Log struct {
	Level  string `toml:"level" of:"debug info warn error"`
	Format string `toml:"format" of:"text json"`
	File   string `toml:"file" is:"path"` // absolute; "": stderr
}

// Value is the effective value of one key.
type Value struct {
	Key    string // "watch.settle"
	Value  any    // as in TOML: string, integer, float, bool, list or table; durations and sizes as strings
	Source string // "default", "FILE:LINE" or "environment CCD_WATCH_SETTLE"
}

// Load reads the configuration: the defaults, then file, then the environment (env as from os.Environ: CCD_SECTION_KEY;
// an empty value counts as unset). A missing file is only an error if it was requested explicitly. Errors contain file,
// line, key and the nearest key, and nothing else of the file's content.
func Load(file string, explicit bool, env []string) (Config, error) {
	c := defaults()
	for _, e := range env {
		if home, ok := strings.CutPrefix(e, homeVariable+"="); ok {
			c.home = home
			break
		}
	}
	text, err := read(file)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !explicit:
	case err != nil:
		if p := new(fs.PathError); errors.As(err, &p) {
			err = p.Err // it names the file too
		}
		return Config{}, fmt.Errorf("read config %s: %w", file, err)
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

// defaults returns a configuration of its own with the values of the example.
func defaults() Config {
	c := decoded()
	c.Watch.Roots, c.Models.Windows, c.Models.Prices, c.Agents.Formats, c.Redact.Rules = maps.Clone(c.Watch.Roots), maps.Clone(c.Models.Windows), maps.Clone(c.Models.Prices), maps.Clone(c.Agents.Formats), maps.Clone(c.Redact.Rules)
	c.sources = map[string]string{}
	return c
}

// decoded is the example. A command reads the configuration more than once, and this is most of the work.
var decoded = sync.OnceValue(func() Config {
	c := Config{Watch: Watch{Roots: map[string][]string{}}, Models: Models{Windows: map[string]int64{}, Prices: map[string]string{}}, Agents: Agents{Formats: map[string]generic.Agent{}}, Redact: Redact{Rules: map[string]string{}}, sources: map[string]string{}}
	if err := c.decode(example); err != nil {
		panic("default.toml: " + err.Error()) // a test would have found it
	}
	return c
})

// read reads a file. It accepts irregular files such as /dev/null or a shell's <(...).
func read(file string) ([]byte, error) {
	if strings.HasPrefix(file, "/dev/") && !strings.HasPrefix(file, "/dev/shm/") {
		return os.ReadFile(file)
	}
	return ownfile.Read(file, 1<<20)
}

// Path returns the file that was read, "" if none.
func (c *Config) Path() string { return c.path }

// Values returns every key in the order of the example, with the source of its value.
func (c *Config) Values() []Value {
	var all []Value
	for _, k := range c.keys() {
		all = append(all, Value{k.String(), k.shown(), c.source(k.String())})
	}
	return all
}

func (c *Config) source(key string) string { return cmp.Or(c.sources[key], "default") }

// environment applies CCD_SECTION_KEY. It ignores other variables that begin with CCD_.
func (c *Config) environment(env []string) error {
	keys, sections := map[string]key{}, map[string]bool{}
	for _, k := range c.keys() {
		sections[variable(k.section)+"_"] = true
		if k.field.Kind() != reflect.Map {
			keys[variable(k.String())] = k
		}
	}
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		k, ok := keys[name]
		ours := slices.ContainsFunc(slices.Collect(maps.Keys(sections)), func(s string) bool { return strings.HasPrefix(name, s) })
		switch {
		case value == "" || !ours:
			continue
		case k.String() == "agents.reach": // an environment must not give an agent more reach
			return fmt.Errorf("%s: agents.reach cannot be set in the environment", name)
		case !ok:
			err := fmt.Errorf("unknown key %q", name)
			if near, _ := Nearest(name, slices.Sorted(maps.Keys(keys))); near != "" {
				err = fmt.Errorf("%w; did you mean %q?", err, near)
			}
			return err
		}
		if err := k.set(k.field, k.parse(value)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		c.sources[k.String()] = "environment " + name
	}
	return nil
}

// variable is the environment's name of a key.
func variable(key string) string { return "CCD_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_")) }

// check checks rules between keys.
func (c *Config) check() error {
	if c.Watch.MaxWait < c.Watch.Settle {
		return fmt.Errorf("watch.max_wait (%s) is less than watch.settle (%s)", c.source("watch.max_wait"), c.source("watch.settle"))
	}
	return nil
}
