package config

import (
	"fmt"
	"path/filepath"
	"runtime"
)

// HomeVariable returns the name of the variable that has the home directory.
func HomeVariable() string {
	if runtime.GOOS == "windows" {
		return "USERPROFILE"
	}
	return "HOME"
}

// File returns the path of the configuration: $XDG_CONFIG_HOME/ccd/config.toml, by default below home/.config. It fails
// if neither the variable nor home is an absolute path.
func File(getenv func(string) string, home string) (string, error) {
	dir, err := base(getenv("XDG_CONFIG_HOME"), home, ".config")
	if err != nil {
		return "", fmt.Errorf("find config: %w", err)
	}
	return filepath.Join(dir, "ccd", "config.toml"), nil
}

// StateDir returns ccd's own directory: $XDG_STATE_HOME/ccd, by default home/.local/state/ccd (macOS:
// home/Library/Application Support/ccd, Windows: %LOCALAPPDATA%\ccd). It fails if neither the variable nor home is an
// absolute path.
func StateDir(getenv func(string) string, home string) (string, error) {
	return stateDir(runtime.GOOS, getenv, home)
}

func stateDir(goos string, getenv func(string) string, home string) (string, error) {
	set, below := getenv("XDG_STATE_HOME"), filepath.Join(".local", "state")
	switch goos {
	case "darwin":
		below = filepath.Join("Library", "Application Support")
	case "windows":
		below = filepath.Join("AppData", "Local")
		if !filepath.IsAbs(set) {
			set = getenv("LOCALAPPDATA")
		}
	}
	dir, err := base(set, home, below)
	if err != nil {
		return "", fmt.Errorf("find state directory: %w", err)
	}
	return filepath.Join(dir, "ccd"), nil
}

// base returns the variable's value if it is absolute (XDG says to ignore relative ones), otherwise a directory below
// home.
func base(set, home, below string) (string, error) {
	if filepath.IsAbs(set) {
		return set, nil
	}
	if home == "" {
		return "", fmt.Errorf("%s is not set", HomeVariable())
	}
	if !filepath.IsAbs(home) {
		return "", fmt.Errorf("%s is %q, not an absolute path", HomeVariable(), home)
	}
	return filepath.Join(home, below), nil
}
