package archive

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"ccd/internal/atomicfile"
	"ccd/internal/ownfile"
)

// The tips are what Append has acknowledged: the name of each session, and the end of each generation. They stand in a file beside the
// archive, because damage of the archive may take a session, or its end, without a trace, and an older copy in its place lacks them. Repair and
// Verify read them, to tell what is lost. So they need not be synced, and the last of several lines about a generation holds.

// landed is a generation and its end.
type landed struct {
	generationOf
	tip int64
}

// tipsPath returns the path of the tips of the archive at path.
func tipsPath(path string) string { return path + ".tips" }

const (
	tipsHead  = "tips of archive %s" // its ID
	tipsSize  = "\n%d"               // bytes of the tips when the file was rewritten
	tipLine   = "\n%d %d %q %q"      // generation, end, agent, ID; a line that was torn is closed by the next one
	smallTips = 64 << 10             // size in bytes below which the file is not rewritten
	maxTips   = 1 << 30              // bytes
)

// note adds tips, under the lock. The file is rewritten when it has doubled, or is of another archive.
func (s *store) note(ctx context.Context, id string, tips []*landed) error {
	text := ""
	for _, t := range tips {
		if t.n > 0 {
			text += fmt.Sprintf(tipLine, t.n, t.tip, t.Agent, t.ID)
		}
	}
	if text == "" {
		return nil
	}
	f, err := ownfile.Open(tipsPath(s.a.path), os.O_RDWR|os.O_APPEND, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return s.hold().writeTips(ctx, tipsPath(s.a.path), id)
	}
	if err != nil {
		return fmt.Errorf("note tips: %w", err)
	}
	defer f.Close()
	head, size := fmt.Sprintf(tipsHead, id), int64(0)
	begin := make([]byte, len(head)+len(fmt.Sprintf(tipsSize, maxTips)))
	n, _ := f.ReadAt(begin, 0) // a short file is of another archive
	rest, ours := strings.CutPrefix(string(begin[:n]), head)
	_, _ = fmt.Sscanf(rest, tipsSize, &size)
	info, err := f.Stat()
	switch {
	case err != nil:
		return err
	case !ours, info.Size() > max(smallTips, 2*size):
		return s.hold().writeTips(ctx, tipsPath(s.a.path), id)
	}
	_, err = f.WriteString(text)
	return err
}

// writeTips writes the tips of all sessions of an archive. If not all can be read, the earlier ones stay.
func (a *Archive) writeTips(ctx context.Context, path, id string) error {
	all, err := a.Sessions(ctx)
	if err != nil {
		return skipDamage(err)
	}
	var b strings.Builder
	for _, s := range all {
		for _, g := range s.Generations {
			fmt.Fprintf(&b, tipLine, g.N, g.Tip.Offset, s.Agent, s.ID)
		}
	}
	return atomicfile.Write(path, 0o600, fmt.Appendf(nil, tipsHead+tipsSize+"%s", id, b.Len(), b.String()))
}

// readTips returns the ID of the archive that the tips are of, and them. What cannot be read is not known.
func (a *Archive) readTips() (id string, ends map[generationOf]int64) {
	ends = map[generationOf]int64{}
	b, _ := ownfile.Read(tipsPath(a.path), maxTips)
	head, rest, _ := strings.Cut(string(b), "\n")
	_, _ = fmt.Sscanf(head, tipsHead, &id)
	for line := range strings.Lines(rest) {
		var t landed
		if n, _ := fmt.Sscanf("\n"+strings.TrimSuffix(line, "\n"), tipLine, &t.n, &t.tip, &t.Agent, &t.ID); n == 4 && t.n > 0 && t.n <= len(b) {
			ends[t.generationOf] = t.tip
		}
	}
	return id, ends
}

// errOlder is the damage of an archive that lacks what it has acknowledged.
var errOlder = errors.New("the archive is older than what it has acknowledged")

// Acknowledged is Sessions, with damage for what they lack of what the archive has acknowledged before, as far as the file beside it
// says: they are of an older copy of the archive. It fails as Sessions does.
func (a *Archive) Acknowledged(ctx context.Context) (all []Session, lacking []*DamageError, err error) {
	of, ends := a.readTips()
	all, err = a.Sessions(ctx)
	if id, bad := a.ID(ctx); bad != nil || id != of {
		return all, nil, err
	}
	here := map[generationOf]int64{}
	for _, s := range all {
		for _, g := range s.Generations {
			here[generationOf{s.Key, g.N}] = g.Tip.Offset
		}
	}
	for this, end := range ends {
		if got, ok := here[this]; !ok || got < end {
			lacking = append(lacking, &DamageError{Path: a.path, Session: this.Key, Generation: this.n, Offset: got, Err: errOlder})
		}
	}
	return all, lacking, err
}
