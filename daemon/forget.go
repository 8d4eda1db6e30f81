package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"time"

	"ccd/archive"
	"ccd/compactor/companion"
	"ccd/internal/mark"
	"ccd/internal/transcript"
	"ccd/watcher"
)

// Forget removes texts and sessions from the archive and from companions, for good (see archive.Forget). preview is what
// archive.Preview has returned for it. The companions of these sessions are removed first, so that a process that dies
// leaves none with what was forgotten, and made again at the end. It fails as that does.
func (d *Daemon) Forget(ctx context.Context, r archive.Removal, preview archive.Removed, progress func(done, total int64)) (archive.Removed, error) {
	r.Reset = func(state []byte) []byte { return resetState(state, r) }
	of := slices.Concat(preview.Touched, preview.States, preview.Sessions)
	return d.rewrite(ctx, of, preview.Sessions, func() (archive.Removed, error) { return d.Archive.Forget(ctx, r, progress) })
}

// rewrite removes the companions of sessions, and those that name originals which the index has in sessions that do removes. It
// runs do, and makes the companions of those that are left again: they have IDs that the index has in their own session.
func (d *Daemon) rewrite(ctx context.Context, of, gone []transcript.Key, do func() (archive.Removed, error)) (removed archive.Removed, err error) {
	naming, err := d.naming(ctx, gone)
	if err != nil {
		return removed, err
	}
	of = d.withLater(slices.Concat(of, naming))
	had := map[transcript.Key]bool{}
	for _, k := range of {
		s := d.sessions[k]
		if s == nil {
			continue
		}
		if had[k] = s.state.Companion != ""; had[k] {
			err := companion.Remove(s.state.Companion)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return removed, err
			}
		}
	}
	removed, err = do()
	if err = errors.Join(err, d.load(ctx)); err != nil {
		return removed, err
	}
	var offers []watcher.Offer
	for _, k := range of {
		s := d.sessions[k]
		if s == nil || !d.knowsAgent(k.Agent) || slices.Contains(removed.Sessions, k) {
			continue
		}
		if had[k] && s.state.Gone { // no user has removed it
			s.state.Companion, s.state.Options = "", ""
		}
		offers = append(offers, d.asOffer(s))
	}
	d.bring(ctx, offers...)
	found, err := d.Archive.Lookup(ctx, removed.IDs...)
	again := map[mark.ID]bool{}
	for _, f := range found {
		again[f.Hash.ID()] = true
	}
	removed.IDs = slices.DeleteFunc(removed.IDs, func(id mark.ID) bool { return again[id] })
	return removed, err
}

// withLater returns sessions with those that continue one of them: what was said in it is in their companions too.
func (d *Daemon) withLater(of []transcript.Key) []transcript.Key {
	in := map[transcript.Key]bool{}
	for _, k := range of {
		in[k] = true
	}
	for more := true; more; {
		more = false
		for k, s := range d.sessions {
			before := func(id string) bool { return id != "" && in[transcript.Key{Agent: k.Agent, ID: id}] }
			if !in[k] && (before(s.Thread) || before(s.state.Origin)) {
				in[k], more = true, true
				of = append(of, k)
			}
		}
	}
	return of
}

// naming returns the other sessions whose companions name originals that the index has in these: the same bytes are in both.
func (d *Daemon) naming(ctx context.Context, these []transcript.Key) (all []transcript.Key, err error) {
	if len(these) == 0 {
		return nil, nil
	}
	in := map[transcript.Key]bool{}
	for _, k := range these {
		in[k] = true
	}
	for k, s := range d.sessions {
		d.heartbeat()
		if in[k] || s.state.Companion == "" || s.Class == transcript.Attachment || !d.knowsAgent(k.Agent) {
			continue
		}
		text, err := os.ReadFile(s.state.Companion)
		if err != nil { // made again by the next sync, or not at all
			continue
		}
		found, err := d.Archive.Lookup(ctx, mark.IDs(string(text))...)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(found, func(f archive.Found) bool { return in[f.Key] }) {
			all = append(all, k)
		}
	}
	return all, nil
}

// resetState removes from a state what is from the transcript, which the next sync adds again, and labels with what r removes.
func resetState(state []byte, r archive.Removal) []byte {
	s, err := DecodeState(state)
	if err != nil {
		return nil
	}
	s.Source, s.Written, s.Read = Stat{}, Stat{}, Place{}
	s.Title, s.Ask, s.Start, s.Cwd, s.Model, s.Parent, s.Deeds = "", "", "", "", "", "", nil
	if r.InState([]byte(s.Labels.Name)) {
		s.Labels.Name = ""
	}
	s.Labels.Tags = slices.DeleteFunc(s.Labels.Tags, func(tag string) bool { return r.InState([]byte(tag)) })
	return s.Encode()
}

// Keep says which sessions Collect removes. Zero fields remove none.
type Keep struct {
	Age  time.Duration // since they last grew, and since their transcripts were deleted
	Size int64         // of the archive's file in bytes: the oldest are removed until it fits
}

// Candidate is a session, with its sub-agents and attachments, that Collect may remove.
type Candidate struct {
	Keys  []transcript.Key // the session first
	Title string
	Cwd   string
	Last  time.Time // when it last grew
	Bytes int64     // of transcripts

	gone time.Time // when the last of its transcripts was found deleted
}

// Candidates returns what Collect removes, oldest first, how many more sessions stay that are old enough, by reason, and how many bytes
// the archive then has, about.
// It removes only sessions whose transcript is gone: the others would be archived again. It fails if the archive cannot be read.
func (d *Daemon) Candidates(ctx context.Context, keep Keep, now time.Time) (chosen []Candidate, stay map[string]int, left int64, err error) {
	stored, err := d.Archive.Sessions(ctx)
	if err != nil {
		return nil, nil, 0, err
	}
	size, err := d.Archive.Size(ctx)
	if err != nil {
		return nil, nil, 0, err
	}
	stay = map[string]int{}
	bytes := map[transcript.Key]int64{}
	for _, a := range stored {
		for _, g := range a.Generations {
			bytes[a.Key] += g.Tip.Offset
		}
	}
	copied := map[string]bool{} // IDs of sessions that ccd copied: the text of the copy names their originals
	for k, s := range d.sessions {
		copied[s.state.Resumed.ID] = copied[s.state.Resumed.ID] || s.state.Resumed.ID != k.ID
	}
	left = size.File - size.Free
	share := float64(left) / float64(max(1, size.Raw))
	for _, c := range d.families(bytes) {
		old := keep.Age > 0 && now.Sub(c.Last) > keep.Age
		if !old && (keep.Size <= 0 || left <= keep.Size) {
			continue
		}
		why := d.whyKept(*c, copied)
		if why == "" && now.Sub(c.gone) <= keep.Age { // who deleted it by mistake has that long to notice
			why = "transcript deleted within the time of --keep"
		}
		if why != "" {
			stay[why]++
			continue
		}
		left -= int64(float64(c.Bytes) * share)
		chosen = append(chosen, *c)
	}
	return chosen, stay, left, nil
}

// families returns all sessions with their parts, those that were active last at the end. bytes has the sizes of their transcripts.
func (d *Daemon) families(bytes map[transcript.Key]int64) []*Candidate {
	families := map[transcript.Key]*Candidate{}
	for _, k := range slices.SortedFunc(maps.Keys(d.sessions), byID) {
		chain, s := d.partOf(k), d.sessions[k].state
		root := chain[len(chain)-1]
		c := families[root]
		if c == nil {
			of := d.sessions[root].state
			c = &Candidate{Keys: []transcript.Key{root}, Title: cmp.Or(of.Labels.Name, of.Title, of.Ask), Cwd: cmp.Or(of.Start, of.Cwd)}
			families[root] = c
		}
		if k != root {
			c.Keys = append(c.Keys, k)
		}
		c.Bytes += bytes[k]
		c.Last = slices.MaxFunc([]time.Time{c.Last, s.Grew()}, time.Time.Compare)
		c.gone = slices.MaxFunc([]time.Time{c.gone, s.GoneAt}, time.Time.Compare)
	}
	return slices.SortedFunc(maps.Values(families), func(x, y *Candidate) int {
		return cmp.Or(x.Last.Compare(y.Last), byID(x.Keys[0], y.Keys[0]))
	})
}

// Family returns a session with its sub-agents and attachments, itself first. Of a conversation in several files the first one
// stands for all.
func (d *Daemon) Family(k transcript.Key) []transcript.Key {
	if s := d.sessions[k]; s != nil && s.Thread != "" {
		k.ID = s.Thread
	}
	all := []transcript.Key{k}
	for other := range d.sessions {
		if other != k && slices.Contains(d.partOf(other), k) {
			all = append(all, other)
		}
	}
	slices.SortFunc(all[1:], byID)
	return all
}

// partOf returns a session and those that it is a part of, the nearest first. A damaged transcript may have a cycle of parents.
func (d *Daemon) partOf(k transcript.Key) (chain []transcript.Key) {
	for s := d.sessions[k]; s != nil && !slices.Contains(chain, k); s = d.sessions[k] {
		chain = append(chain, k)
		k.ID = cmp.Or(s.Thread, s.Parent, s.state.Parent)
	}
	return chain
}

func byID(x, y transcript.Key) int { return cmp.Compare(x.ID, y.ID) }

// whyKept returns why sessions stay, "" if they may be removed.
func (d *Daemon) whyKept(c Candidate, copied map[string]bool) string {
	for _, k := range c.Keys {
		s := d.sessions[k]
		switch {
		case s.state.Labels.Pinned:
			return "pinned"
		case exists(s.Path):
			return "transcript exists"
		case s.Root != "" && !exists(s.Root): // perhaps not mounted
			return "watched directory is missing"
		case !s.state.Gone:
			return "transcript deleted since the last scan"
		case s.state.Companion != "" && exists(s.state.Companion):
			return "companion exists"
		case copied[k.ID]:
			return "resumed as another session"
		}
	}
	return ""
}

// Collect removes the candidates and the free space from the archive's file. It fails as archive.Compact does.
func (d *Daemon) Collect(ctx context.Context, all []Candidate, progress func(done, total int64)) (archive.Removed, error) {
	var keys []transcript.Key
	for _, c := range all {
		keys = append(keys, c.Keys...)
	}
	r := archive.Removal{Sessions: keys, Reset: func(state []byte) []byte { return resetState(state, archive.Removal{}) }}
	removed, err := d.rewrite(ctx, keys, keys, func() (archive.Removed, error) { return d.Archive.Compact(ctx, r, progress) })
	if err != nil {
		return removed, fmt.Errorf("collect garbage: %w", err)
	}
	return removed, nil
}
