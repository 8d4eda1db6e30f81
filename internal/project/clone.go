package project

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Clone is where a directory of another machine is here.
type Clone struct {
	From   string // the root of the other machine's working tree, as a path of that machine
	To     string // the root of the working tree here
	Dir    string // in To, what the directory is in From
	Remote string // the git remote that both have, without credentials; "" if only their names are the same
}

// Find returns what a directory of another machine is in the working tree of dir. remote is the URL of its git remote, ""
// if unknown. A tree with that remote is a clone of it; one with other remotes is not. If the remote or the tree's
// remotes are not known, a tree counts whose name is an element of the directory's path. ok is false if dir is in no such
// tree, or the tree lacks the directory.
func Find(dir, other, remote string) (c Clone, ok bool) {
	repo, tree := repository(real(dir))
	if tree == "" {
		return c, false
	}
	c.To = tree
	names := []string{filepath.Base(tree)}
	if want := remoteName(remote); want != "" {
		switch have := remotes(repo); {
		case slices.Contains(have, want):
			c.Remote, names = want, append(names, path.Base(want))
		case len(have) > 0:
			return c, false
		}
	}
	is := func(r rune) bool { return r == '/' || r == '\\' && !strings.HasPrefix(other, "/") }
	at := func(end int) bool { // the root of the other tree is other[:end]
		rel := strings.FieldsFunc(other[end:], is)
		to := filepath.Join(append([]string{tree}, rel...)...)
		info, err := os.Stat(to)
		if slices.Contains(rel, "..") || err != nil || !info.IsDir() || !within(real(to), tree) {
			return false
		}
		c.From, c.Dir = other[:end], to
		return true
	}
	start := 0
	var ends []int // of the path's elements
	for end := range len(other) + 1 {
		if end < len(other) && !is(rune(other[end])) {
			continue
		}
		if ends = append(ends, end); slices.Contains(names, other[start:end]) && at(end) {
			return c, true
		}
		start = end + 1
	}
	if c.Remote != "" { // the other tree has another name: take the longest path that exists here
		for _, end := range ends {
			if end > 0 && at(end) {
				return c, true
			}
		}
	}
	return c, false
}

// mostConfig is how much of a repository's configuration is read, in bytes.
const mostConfig = 1 << 20

// remotes returns the remotes of a repository.
func remotes(repo string) (names []string) {
	section := ""
	for text := range strings.Lines(readStart(filepath.Join(repo, "config"), mostConfig)) {
		text = strings.TrimSpace(text)
		if strings.HasPrefix(text, "[") {
			section = text
			continue
		}
		key, value, _ := strings.Cut(text, "=")
		if !strings.HasPrefix(strings.ToLower(section), `[remote "`) || !strings.EqualFold(strings.TrimSpace(key), "url") {
			continue
		}
		if name := remoteName(strings.Trim(strings.TrimSpace(value), `"`)); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// remoteName returns host and path of a remote's URL in one form for all protocols, without credentials, port and ".git"; ""
// if it is a path on one machine.
func remoteName(remote string) string {
	scheme, rest, ok := strings.Cut(remote, "://")
	if !ok {
		host, dir, scp := strings.Cut(remote, ":") // user@host:path
		if !scp || strings.ContainsAny(host, `/\`) {
			return ""
		}
		scheme, rest = "ssh", host+"/"+dir
	}
	host, dir, _ := strings.Cut(rest, "/")
	host, _, _ = strings.Cut(host[strings.LastIndex(host, "@")+1:], ":")
	dir = strings.TrimSuffix(strings.Trim(dir, "/"), ".git")
	if scheme == "file" || host == "" || dir == "" {
		return ""
	}
	return strings.ToLower(host) + "/" + dir
}
