// Package account finds what belongs to one account: its home directory, its configuration, the paths that this names, and its
// ccd service.
//
// It creates nothing and reads only the configuration and the service's file. It knows nothing of what callers do with these.
package account

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"ccd/archive"
	"ccd/cmd/ccd/internal/disk"
	"ccd/internal/agent/registry"
	"ccd/internal/config"
	"ccd/internal/redact"
	"ccd/internal/transcript"
	"ccd/internal/words"
	"ccd/watcher"
)

// Env is the environment in which an account runs ccd.
type Env struct {
	Vars       []string // as os.Environ
	ConfigFile string   // the value of --config, "" if not given
	Dir        string   // where relative paths begin, "": in the working directory of the process
	Program    string   // the path by which ccd was called, "": that of the process
}

// Path returns a path that a person wrote as one that this process can open.
func (e Env) Path(name string) string {
	if e.Dir == "" || name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(e.Dir, name)
}

// Absolute is Path, made absolute. A path that cannot be is left as it is, and whatever opens it fails.
func (e Env) Absolute(name string) string {
	return disk.Absolute(e.Path(name))
}

// LookPath returns the path of a program: name if that is a path, else what the first directory of PATH has, else an error.
func (e Env) LookPath(name string) (string, error) {
	if filepath.Base(name) != name {
		return exec.LookPath(e.Path(name))
	}
	for _, dir := range filepath.SplitList(e.Getenv("PATH")) {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil && filepath.IsAbs(path) {
			return path, nil
		}
	}
	return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
}

// WorkingDir returns the directory in which relative paths begin. It fails if that was removed.
func (e Env) WorkingDir() (string, error) {
	if e.Dir != "" {
		return e.Dir, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find working directory: %w", err)
	}
	return dir, nil
}

// Getenv is os.Getenv over Vars.
func (e Env) Getenv(key string) string {
	for _, v := range e.Vars {
		if value, ok := strings.CutPrefix(v, key+"="); ok {
			return value
		}
	}
	return ""
}

// Home returns the home directory. It fails if none is set, because ccd must not guess one.
func (e Env) Home() (string, error) {
	dir := e.Getenv(config.HomeVariable())
	if !filepath.IsAbs(dir) {
		return "", fmt.Errorf("find home directory: $%s is %q, expected an absolute path", config.HomeVariable(), dir)
	}
	return dir, nil
}

// UsualConfig returns the path of the configuration file that is used without --config. It fails as Home does.
func (e Env) UsualConfig() (string, error) {
	home, err := e.Home()
	if file := e.Getenv("CCD_CONFIG"); err != nil || file != "" {
		return file, err
	}
	return config.File(e.Getenv, home)
}

// Config reads the configuration: defaults, file, environment. Its file is ConfigFile, else $CCD_CONFIG, else the usual
// one, which need not exist. It fails for a key or value that is not allowed.
func (e Env) Config() (config.Config, error) {
	file, err := e.UsualConfig()
	if err != nil {
		return config.Config{}, err
	}
	file, explicit := cmp.Or(e.ConfigFile, file), e.ConfigFile != "" || e.Getenv("CCD_CONFIG") != ""
	c, err := config.Load(e.Path(file), explicit, e.Vars)
	return c, words.Hint(err, "ccd config --default")
}

// Defaults returns the same environment with the default configuration.
func (e Env) Defaults() Env {
	e.Vars = slices.DeleteFunc(slices.Clone(e.Vars), func(v string) bool { return strings.HasPrefix(v, "CCD_") })
	e.ConfigFile = os.DevNull
	return e
}

// As returns the environment in which a service manager starts programs of the named account. It fails for root.
func (e Env) As(name string) (Env, error) {
	u, err := user.Lookup(name)
	if err != nil {
		return e, words.Hint(fmt.Errorf("find account %s: %w", name, err), "getent passwd")
	}
	if u.Uid == "0" {
		return e, words.Hint(errors.New("find account: ccd archives a user's transcripts, not root's"), "ccd service install --system --user NAME")
	}
	e.Vars = []string{"HOME=" + u.HomeDir, "USERPROFILE=" + u.HomeDir}
	return e, nil
}

// Name returns the name of the current account, its number if it has none.
func Name() string {
	if u, err := user.LookupId(strconv.Itoa(os.Geteuid())); err == nil {
		return u.Username
	}
	return strconv.Itoa(os.Geteuid())
}

// Place is an account's configuration with the paths that it names. All paths are absolute.
type Place struct {
	Env         Env
	Config      config.Config
	Agents      registry.Table
	Home        string
	StateDir    string
	Roots       []watcher.Root
	Watch       watcher.Options
	ArchivePath string
	Archive     *archive.Archive // nil if the configuration was not read
	Machine     string           // whose pulled archive Archive is; "": this account's own
	Pulled      time.Time        // when it was last pulled completely
}

// Place reads the configuration and resolves its paths. It fails if the daemon's log would be among
// transcripts.
func (e Env) Place(readOnly bool) (*Place, error) {
	c, err := e.Config()
	if err != nil {
		return nil, err
	}
	p, err := e.State()
	if err != nil {
		return nil, err
	}
	p.Config, p.Agents = c, AgentsOf(c)
	if p.Agents.Redact, err = redact.New(Redaction(c)); err != nil {
		return nil, fmt.Errorf("read config: %w", err)
	}
	p.ArchivePath = cmp.Or(c.Archive.Path, p.ArchivePath)
	p.Roots = e.Roots(c, p.Home)
	for _, r := range p.Roots {
		if rel, err := filepath.Rel(r.Path, c.Log.File); c.Log.File != "" && err == nil && filepath.IsLocal(rel) {
			return nil, fmt.Errorf("read config: log.file (%s): %s is below the watched root %s", c.Source("log.file"), c.Log.File, r.Path)
		}
	}
	p.Watch = watcher.Options{
		Roots: p.Roots, Ignore: c.Watch.Ignore, Settle: c.Watch.Settle.Duration, MaxWait: c.Watch.MaxWait.Duration,
		RefreshIdle: c.Companion.RefreshIdle.Duration, ScanInterval: c.Watch.ScanInterval.Duration, Poll: c.Watch.Poll,
		Match: func(r watcher.Root, path string) bool {
			found, ok := p.Agents.Find(r.Agent, r.Path, path)
			return ok && !p.Archive.Forgets(found)
		},
	}
	p.Archive, err = archive.Open(p.ArchivePath, archive.Options{ReadOnly: readOnly, MinFree: int64(c.Archive.MinFree), MaxSize: int64(c.Archive.MaxSize)})
	return p, err
}

// WatchedRoot returns the watched root that a file would be in, before or after links are resolved.
func (p *Place) WatchedRoot(file string) (root string, below bool) {
	for _, r := range p.Roots {
		if disk.Within(file, r.Path) || disk.Within(disk.Real(file), disk.Real(r.Path)) {
			return r.Path, true
		}
	}
	return "", false
}

// State returns what is known of an account whose configuration cannot be read. It fails as Home does.
func (e Env) State() (*Place, error) {
	home, err := e.Home()
	if err != nil {
		return nil, err
	}
	dir, err := config.StateDir(e.Getenv, home)
	return &Place{Env: e, Home: home, StateDir: dir, ArchivePath: filepath.Join(dir, "archive.db")}, err
}

// Roots returns each agent's own directories, then those that the configuration adds.
func (e Env) Roots(c config.Config, home string) []watcher.Root {
	var all []watcher.Root
	for _, f := range AgentsOf(c).All() {
		for _, dir := range append(f.Roots(e.Getenv, home), c.Watch.Roots[f.Agent]...) {
			all = append(all, watcher.Root{Agent: f.Agent, Path: dir})
		}
	}
	return all
}

// Redaction returns what a configuration says of secrets.
func Redaction(c config.Config) redact.Config {
	return redact.Config{Off: !c.Redact.Secrets, Rules: c.Redact.Rules, Allow: c.Redact.Allow}
}

// AgentsOf returns the built-in agents and those of the configuration, whose decoders leave out nothing.
func AgentsOf(c config.Config) registry.Table {
	var rows []transcript.Format
	for _, name := range slices.Sorted(maps.Keys(c.Agents.Formats)) {
		rows = append(rows, registry.Lists(name, c.Agents.Formats[name].Roots, c.Agents.Formats[name].Glob))
	}
	return registry.Table{}.With(rows...)
}

// Agents is like AgentsOf, but also works without a valid configuration, and the decoders leave out the secrets of the
// configured rules, without a valid configuration those of the default ones.
func (e Env) Agents() registry.Table {
	t, rules := registry.Table{}, redact.Config{}
	if c, err := e.Config(); err == nil {
		t, rules = AgentsOf(c), Redaction(c)
	}
	var err error
	if t.Redact, err = redact.New(rules); err != nil {
		t.Redact, _ = redact.New(redact.Config{})
	}
	return t
}
