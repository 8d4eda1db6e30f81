//go:build rig

package walk

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"ccd/internal/mark"
	"ccd/internal/testkit"
	"ccd/internal/testkit/gen"
)

// transcripts is how many sessions alice has.
const transcripts = 50

// canary stands in a transcript, and must never stand in a log.
const canary = "marmalade-on-the-barometer"

func (w *walk) chroot(argv ...string) ([]byte, error) {
	return exec.Command("chroot", append([]string{w.path("/")}, argv...)...).CombinedOutput()
}

// copyIn copies a file of packaging/walk/run onto the machine.
func (w *walk) copyIn(name, inside string) {
	w.Helper()
	from, err := os.Open(filepath.Join(w.work, name))
	testkit.Must(w, err)
	defer from.Close()
	to, err := os.Create(w.path(inside))
	if err == nil {
		_, err = io.Copy(to, from)
	}
	if err == nil {
		err = to.Close()
	}
	testkit.Must(w, err)
}

// sample is what one transcript will hold.
type sample struct {
	agent string
	text  []byte
}

// invented is a transcript of about size bytes, shaped like a real one.
func invented(w *walk, seed int, size int64) sample {
	w.Helper()
	agent := []string{"claude", "codex"}[seed%2]
	var b bytes.Buffer
	testkit.Must(w, gen.Write(&b, map[string]string{"claude": gen.Claude, "codex": gen.Codex}[agent], uint64(seed), size))
	return sample{agent, b.Bytes()}
}

// place is where the agent would keep session n.
func place(who account, agent string, n int) string {
	if agent == "codex" {
		return fmt.Sprintf("%s/.codex/sessions/2026/01/%02d/rollout-2026-01-%02dT10-00-00-%08d-0000-4000-8000-0000000000aa.jsonl", who.home(), n%5+1, n%5+1, n)
	}
	return fmt.Sprintf("%s/.claude/projects/-home-%s-p%d/%08d-0000-4000-8000-0000000000aa.jsonl", who.home(), who.name, n%5, n)
}

// arrive has transcripts appear while the service runs, and waits for their archiving and their companions.
func arrived(w *walk) {
	for n := range transcripts {
		w.seed++
		s := invented(w, w.seed, 100<<10)
		if n == 0 {
			s.text = append(bytes.Clone(s.text), said(n)...)
		}
		w.files = append(w.files, place(w.alice, s.agent, n))
		w.write(w.alice, w.files[n], string(s.text))
	}
	took := w.within(time.Minute, "everything is archived", w.complete)
	var companions []string
	w.within(time.Minute, "half of the sessions have a companion", func() bool {
		companions = w.companions(w.alice)
		return len(companions) >= transcripts/2
	})
	w.tell("archived %.1f s after the last, %d companions", took.Seconds(), len(companions))
	w.restored(w.alice)
	w.tell("%d IDs of companions restored", w.resolved(companions))
}

// said is a record of what a user said, with the canary in it.
func said(n int) []byte {
	return fmt.Appendf(nil, `{"type":"user","uuid":"%08d-0000-4000-8000-00000000cccc","message":{"role":"user","content":"Please say %s."}}`+"\n", n, canary)
}

// listed is what `ccd ls` says of a session.
type listed struct {
	Session, Source, Companion string
	Bytes                      int64
	Present                    bool `json:"source_present"`
}

func (w *walk) list(who account, env ...string) (all []listed) {
	w.Helper()
	out := w.must(who, append(append([]string{"env"}, env...), "ccd", "ls", "--all", "--json")...)
	if err := json.Unmarshal([]byte(out), &all); err != nil {
		w.Fatalf("%v: %s", err, out)
	}
	return all
}

// complete reports whether the archive has as much of each transcript as stands on the disk.
func (w *walk) complete() bool {
	w.Helper()
	have := map[string]int64{}
	for _, s := range w.list(w.alice) {
		have[s.Source] = s.Bytes
	}
	for _, f := range w.files {
		info, err := os.Stat(w.path(f))
		testkit.Must(w, err)
		if n, ok := have[f]; !ok || n != info.Size() {
			return false
		}
	}
	return true
}

// companions are the companions below a home.
func (w *walk) companions(who account) []string {
	w.Helper()
	return strings.Fields(w.must(who, "find", who.home(), "-name", "*.ccd.md", "-not", "-path", "*/.local/*"))
}

// comeBack restores transcripts and returns their sums, as sums does.
func (w *walk) comeBack(who account, files []string, env ...string) string {
	w.Helper()
	script := `while read -r f; do printf '%s  %s\n' "$(env "$@" ccd restore --session "$f" | sha256sum | cut -c1-64)" "$f"; done`
	return w.shell(who, strings.Join(files, "\n")+"\n", script, env...)
}

// restored compares what comes back of each transcript with what stands on the disk.
func (w *walk) restored(who account, env ...string) {
	w.Helper()
	sums := w.comeBack(who, w.files, env...)
	if want := w.sums(w.files); sums != want {
		w.Errorf("what comes back is not what stands on the disk:\n%s\nwant\n%s", sums, want)
	}
}

// sums are lines of sha256 and name of files of the machine.
func (w *walk) sums(files []string) string {
	w.Helper()
	var b strings.Builder
	for _, f := range files {
		text, err := os.ReadFile(w.path(f))
		testkit.Must(w, err)
		sum := sha256.Sum256(text)
		fmt.Fprintf(&b, "%s  %s\n", hex.EncodeToString(sum[:]), f)
	}
	return b.String()
}

// resolved restores one ID of each companion, up to twenty, and returns how many.
func (w *walk) resolved(companions []string) (n int) {
	w.Helper()
	var ids []string
	for _, c := range companions {
		text, err := os.ReadFile(w.path(c))
		testkit.Must(w, err)
		if found := mark.IDs(string(text)); len(found) > 0 && len(ids) < 20 {
			ids = append(ids, string(found[len(found)/2]))
		}
	}
	out := w.shell(w.alice, strings.Join(ids, "\n")+"\n", `while read -r id; do ccd restore --info --json "$id" | tr -d '\n'; echo; ccd restore "$id" | sha256sum | cut -c1-64; done`)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	for i, id := range ids {
		var info struct{ Shape, SHA256 string }
		if err := json.Unmarshal([]byte(lines[2*i]), &info); err != nil {
			w.Fatalf("%v: %s", err, lines[2*i])
		}
		sum, err := hex.DecodeString(info.SHA256)
		if err != nil || len(sum) != len(mark.Hash{}) {
			w.Fatalf("ID %s: sha256 %q", id, info.SHA256)
		}
		if info.Shape == "lines" && lines[2*i+1] != info.SHA256 || info.Shape == "single" && string(mark.Hash(sum).ID()) != id {
			w.Errorf("ID %s comes back as something else: %s", id, lines[2*i])
		}
	}
	return len(ids)
}
