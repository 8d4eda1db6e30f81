package setup

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"ccd/internal/transcript"
)

// Codex's configuration. The client writes it too: it then moves the table, drops the mark before it and keeps the one
// after it, so the table is known by its name and what it says, and every change is checked by reading both texts.

var (
	header   = regexp.MustCompile(`^\s*\[.*\]\s*(?:#.*)?$`)
	ourTable = regexp.MustCompile(`^\s*\[\s*["']?mcp_servers["']?\s*\.\s*["']?ccd["']?\s*(\.[^\]]*)?\]`)
	// closed is a table of servers that no table can add to. The reader here would let it pass, the client does not.
	closed = regexp.MustCompile(`^\s*["']?mcp_servers["']?\s*=`)
)

// values reads a TOML text.
func values(path string, text []byte) (map[string]any, error) {
	all := map[string]any{}
	_, err := toml.Decode(string(bytes.TrimPrefix(text, byteOrderMark)), &all)
	var bad toml.ParseError
	if errors.As(err, &bad) {
		return nil, hinted(fmt.Errorf("read %s:%d: not valid TOML", path, bad.Position.Line), "fix the file, then run this again")
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return all, nil
}

// serverOf returns what the values say of an MCP server ccd: its binary, its arguments, whether it is there and ccd's.
func (s *Setup) serverOf(all map[string]any) (binary string, args []string, there, ours bool) {
	servers, _ := all["mcp_servers"].(map[string]any)
	entry, there := servers["ccd"]
	server, _ := entry.(map[string]any)
	binary, _ = server["command"].(string)
	list, _ := server["args"].([]any)
	for _, a := range list {
		text, _ := a.(string)
		args = append(args, text)
	}
	return binary, args, there, s.serves(binary, args)
}

// without returns the values but for ccd's server and what the client noted of these hooks, in a form that can be
// compared.
func without(all map[string]any, hooks ...string) string {
	for _, name := range hooks {
		delete(state(all), name)
	}
	if table, ok := all["hooks"].(map[string]any); ok && len(hooks) > 0 && len(state(all)) == 0 {
		delete(table, "state")
		if len(table) == 0 {
			delete(all, "hooks")
		}
	}
	if servers, ok := all["mcp_servers"].(map[string]any); ok {
		delete(servers, "ccd")
		if len(servers) == 0 {
			delete(all, "mcp_servers")
		}
	}
	return fmt.Sprintf("%#v", all)
}

// putServer writes the server's table at the end of a TOML text, or its new command where it stands; ours tells whether
// one was there.
func (s *Setup) putServer(path string, text []byte) (now []byte, ours bool, err error) {
	all, err := values(path, text)
	if err != nil {
		return nil, false, err
	}
	binary, args, there, ours := s.serverOf(all)
	switch {
	case there && !ours:
		return nil, false, hinted(fmt.Errorf("read %s: %w", path, errNotOurs), "codex mcp remove ccd")
	case ours && binary == s.o.Executable && slices.Equal(args, s.arguments()):
		return text, true, nil
	case ours:
		now = s.renewServer(text)
	case isClosed(text):
		return nil, false, s.noPlace(path)
	default:
		now = attach(text, s.serverLines(isOpen(text)))
	}
	return now, ours, s.checked(path, all, now)
}

// isClosed reports whether the table of servers is one that no table can add to. Other tables, profiles for one, may have
// servers of their own.
func isClosed(text []byte) bool {
	quoted := ""
	for _, l := range lines(text) {
		begun := quoted
		quoted = within(quoted, l)
		switch {
		case begun != "":
		case header.MatchString(l):
			return false
		case closed.MatchString(l):
			return true
		}
	}
	return false
}

// checked fails where the text now says more, or less, than the values before and ccd's server.
func (s *Setup) checked(path string, before map[string]any, text []byte) error {
	after, err := values(path, text)
	if err == nil {
		if binary, args, _, ours := s.serverOf(after); ours && binary == s.o.Executable && slices.Equal(args, s.arguments()) && without(after) == without(before) {
			return nil
		}
	}
	return s.noPlace(path)
}

func (s *Setup) noPlace(path string) error {
	return hinted(fmt.Errorf("write %s: its tables leave no place for [mcp_servers.ccd]", path), "codex mcp add ccd -- %s mcp", transcript.ShellWord(s.o.Executable))
}

// pairs are the lines of the server's table.
func (s *Setup) pairs() []string {
	var args []string
	for _, a := range s.arguments() {
		args = append(args, quote(a)) // JSON's strings are TOML's too
	}
	all := []string{"command = " + quote(s.o.Executable), "args = [" + strings.Join(args, ", ") + "]"}
	if names := s.moved(); len(names) > 0 {
		all = append(all, "env_vars = ["+strings.Join(names, ", ")+"]")
	}
	return all
}

// moved names, quoted, those variables that are set and that say where ccd's files or the transcripts are. Codex starts
// a server without them, unless it is told: the server would then look for the archive in another place.
func (s *Setup) moved() []string {
	var names []string
	for _, name := range []string{"CCD_CONFIG", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"} {
		if s.o.Getenv(name) != "" {
			names = append(names, quote(name))
		}
	}
	return names
}

// The marks around the server's table: whole lines, so that no comment of a user's is one.
const (
	tableBegin = "# ccd: begin, by `ccd agents install`"
	tableEnd   = "# ccd: end, by `ccd agents install`"
)

// serverLines are the table between its marks; open tells that the text before it has no end of its last line.
func (s *Setup) serverLines(open bool) []string {
	return slices.Concat([]string{tableBegin + notes{open: open}.String(), "[mcp_servers.ccd]"}, s.pairs(), []string{tableEnd})
}

func (s *Setup) renewServer(text []byte) []byte {
	all := lines(text)
	inside := false
	for i, l := range all {
		if header.MatchString(l) {
			inside = ourTable.MatchString(l)
		}
		key, _, _ := strings.Cut(bare(l), "=")
		for _, pair := range s.pairs() {
			if inside && strings.HasPrefix(pair, strings.TrimSpace(key)+" =") {
				all[i] = pair + l[len(bare(l)):]
			}
		}
	}
	return []byte(strings.Join(all, ""))
}

// within tells which quotes of a text of several lines are open after a line, "" for none.
func within(quotes, line string) string {
	for {
		if quotes == "" {
			at := strings.IndexAny(line, `"'#`)
			if at < 0 || line[at] == '#' {
				return ""
			}
			line = line[at:]
			if quotes = line[:1]; strings.HasPrefix(line, strings.Repeat(quotes, 3)) {
				quotes = line[:3]
			}
			line = line[len(quotes):]
		}
		rest, ended := behind(quotes, line)
		switch {
		case !ended && len(quotes) == 3:
			return quotes
		case !ended: // not TOML
			return ""
		}
		quotes, line = "", rest
	}
}

// behind returns what follows the closing quotes in a line. A backslash means something between double quotes alone; up to
// two quotes may stand before those that close a text of several lines.
func behind(quotes, line string) (rest string, ended bool) {
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == '\\' && quotes[0] == '"':
			i++
		case strings.HasPrefix(line[i:], quotes):
			rest = line[i+len(quotes):]
			for range 2 {
				if len(quotes) == 3 {
					rest = strings.TrimPrefix(rest, quotes[:1])
				}
			}
			return rest, true
		}
	}
	return "", false
}

// takeTables takes the server's table, its marks and the tables of those names below hooks.state out of a TOML text.
func (s *Setup) takeTables(path string, text []byte, trusted []string) ([]byte, error) {
	before, err := values(path, text)
	if err != nil {
		return nil, err
	}
	_, _, _, ours := s.serverOf(before)
	others := len(state(before)) == 0
	for name := range state(before) {
		others = others || !slices.Contains(trusted, name)
	}
	all := lines(text)
	open := slices.ContainsFunc(all, func(l string) bool { return bare(l) == tableBegin+noLineEnd })
	now := detach(all, drops(all, func(header string) bool {
		return ours && ourTable.MatchString(header) || isTrust(header, trusted) || !others && strings.TrimSpace(header) == "[hooks.state]"
	}), open)
	after, err := values(path, now)
	if _, _, there, _ := s.serverOf(after); err != nil || there && ours || without(after, trusted...) != without(before, trusted...) {
		return nil, hinted(fmt.Errorf("write %s: [mcp_servers.ccd] cannot be taken out of it line by line", path), "codex mcp remove ccd")
	}
	return now, nil
}

// drops are the lines of ccd's marks, and of the tables whose headers go: up to their last pair, without comments, which
// are a user's.
func drops(all []string, goes func(header string) bool) map[int]bool {
	drop := map[int]bool{}
	inside, last, quoted := false, -1, ""
	for i, l := range all {
		begun := quoted
		quoted = within(quoted, l)
		switch l = bare(l); {
		case begun != "": // in a text of several lines nothing begins
			if inside {
				drop[i], last = true, i
			}
		case l == tableBegin, l == tableBegin+noLineEnd, l == tableEnd:
			drop[i], inside = true, false
		case header.MatchString(l):
			if inside = goes(l); inside {
				drop[i], last = true, i
			}
		case inside && !idle(l):
			for last++; last <= i; last++ {
				drop[last] = !isComment(all[last])
			}
			last = i
		}
	}
	maps.DeleteFunc(drop, func(_ int, goes bool) bool { return !goes })
	return drop
}

func isComment(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "#") }

// idle reports whether a line says nothing: empty, or a comment.
func idle(line string) bool { return strings.TrimSpace(line) == "" || isComment(line) }

// state returns what the client noted of hooks: a table a hook that its user was asked about.
func state(all map[string]any) map[string]any {
	hooks, _ := all["hooks"].(map[string]any)
	state, _ := hooks["state"].(map[string]any)
	return state
}

// isTrust reports whether a header is of one of those tables, as the client writes it.
func isTrust(header string, names []string) bool {
	name, ok := strings.CutPrefix(strings.TrimSpace(header), "[hooks.state.")
	name, ended := strings.CutSuffix(name, "]")
	return ok && ended && slices.ContainsFunc(names, func(n string) bool { return name == quote(n) || name == "'"+n+"'" })
}
