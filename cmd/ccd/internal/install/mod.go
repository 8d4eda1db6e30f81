package install

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"ccd/internal/transcript"
)

// A mod is a plugin that runs in the client: it has ccd answer the compactions of a session and, where the client allows,
// replace long outputs. Each of its files has a checksum of its text.

//go:embed all:mod
var mods embed.FS

// Mod says what an agent's mod asks ccd for.
type Mod struct {
	Compaction bool // the new context of a compaction
	Output     int  // an excerpt of an output of so many chars, 0: never
}

// does is what ccd does in a client with this mod, a line each.
func (m Mod) does(c transcript.Connect) (all []string) {
	if m.Compaction {
		from := ""
		if c.Asks != "" {
			from = ", from its version " + c.Asks + " on"
		}
		all = append(all, "compact in the agent's place, without a model"+from+"; off: live.compaction = false, then ccd agents install")
	}
	if m.Output > 0 && c.Outputs {
		all = append(all, fmt.Sprintf("shorten outputs over %s characters for the model; off: compaction.large_output_tokens = 0, then ccd agents install", humanize.Comma(int64(m.Output))))
	}
	return all
}

// modFiles returns the files of a mod that calls this binary, by their paths below the mod's folder.
func (s *Setup) modFiles(a agent) map[string]string {
	argv := []string{s.o.Executable, "hook", "--agent", a.id}
	if s.o.Config != "" {
		argv = append(argv, "--config", s.o.Config)
	}
	command, err := json.Marshal(argv)
	if err != nil {
		command = []byte("[]") // strings always have a JSON form
	}
	ask, _ := mods.ReadFile("mod/ask.js") // of the mods that start a process themselves; it is in the binary
	fill := strings.NewReplacer("COMMAND", string(command), "OUTPUT", strconv.Itoa(s.o.Mod.Output), "ASK\n", strings.Replace(string(ask), "COMMAND", string(command), 1))
	root, files := path.Join("mod", a.id), map[string]string{}
	_ = fs.WalkDir(mods, root, func(name string, d fs.DirEntry, err error) error { // it cannot fail: the files are in the binary
		if text, unread := mods.ReadFile(name); unread == nil {
			files[strings.TrimPrefix(name, root+"/")] = fill.Replace(string(text))
		}
		return err
	})
	return files
}

// unsigned stands in a text where its checksum will be.
const unsigned = "CHECKSUM"

func signed(text string) string {
	return strings.Replace(text, unsigned, sum(lines([]byte(text))), 1)
}

var signature = regexp.MustCompile("written by ccd agents install, ([0-9a-f]{12})")

// signedByUs reports whether a text is a file of ccd's, and whether it is as ccd wrote it.
func signedByUs(text []byte) (ours, whole bool) {
	m := signature.FindSubmatchIndex(text)
	if m == nil {
		return false, false
	}
	return true, sum(lines([]byte(string(text[:m[2]])+unsigned+string(text[m[3]:])))) == string(text[m[2]:m[3]])
}
