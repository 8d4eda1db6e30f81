package compactor_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"ccd/compactor"
	"ccd/internal/agent/registry"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

// A step may change a fifth of the lines: of few lines, so many.
const (
	mostLost   = 0.2
	floorLost  = 24
	narrowLost = 36 // where there is little room
	narrow     = 30000
)

// changed counts the lines of a text that stand in the other one no more.
func changed(before, after string) (n int) {
	have := map[string]int{}
	for l := range strings.Lines(after) {
		have[l]++
	}
	for l := range strings.Lines(before) {
		if have[l]--; have[l] < 0 {
			n++
		}
	}
	return n
}

// restless complains where one more record changes too many lines. What the present says of itself may change besides.
func restless(before, after string, room int) []string {
	now := func(text string) string {
		_, text, _ = strings.Cut(text, "## Now\n")
		text, _, _ = strings.Cut(text, "\n## ")
		return text
	}
	all, floor := strings.Count(before, "\n"), floorLost
	if room < narrow {
		floor = narrowLost
	}
	most := max(int(mostLost*float64(all)), floor) + changed(now(before), now(after))
	if gone := changed(before, after); gone > most {
		return []string{fmt.Sprintf("%d of %d lines are gone, %d may be", gone, all, most)}
	}
	return nil
}

// TestOneMoreRecordChangesLittle has sessions grow: one more record of their last seven tenths keeps most lines. The
// agent's own compaction resets what is recent, and a level that changes cuts anew.
func TestOneMoreRecordChangesLittle(t *testing.T) {
	for _, s := range sessions(t) {
		for _, room := range testkit.Sample(t, []int{defaultChars, 12000}, 1) {
			c, before, level := door(s, options(room)), "", compactor.ByPressure
			n, stride, first := 0, testkit.Cases(t, 97, 31), s.all[len(s.all)*3/10].n
			for r := range s.records() {
				c.Add(r)
				if n++; n < first || n%stride > 1 {
					before = ""
					continue
				}
				made := compaction(t, s, c)
				after := rendered(made)
				if before != "" && r.Boundary == nil && level == made.Header.Level {
					for _, bad := range restless(before, after, room) {
						t.Errorf("%s, %d chars, #%d: %s", s.name, room, r.N, bad)
					}
				}
				before, level = after, made.Header.Level
			}
		}
	}
}

func TestRestlessJudges(t *testing.T) {
	page := func(from, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "- line %d\n", from+i)
		}
		return b.String()
	}
	wants(t, "a tenth", restless(page(0, 300), page(30, 300), defaultChars), false)
	wants(t, "a third", restless(page(0, 300), page(100, 300), defaultChars), true)
	wants(t, "few lines", restless(page(0, 20), page(20, 20), defaultChars), false)
	present := func(from int) string { return "## Now\n\n" + page(from, 80) + "\n## Recent\n\n" + page(1000, 40) }
	wants(t, "the present", restless(present(0), present(500), 12000), false)
	wants(t, "all but the present", restless("## Now\n\n"+page(0, 80)+"\n## Recent\n"+page(100, 90), "## Now\n\n"+page(0, 80)+"\n## Recent\n"+page(900, 90), 12000), true)
}

// cutUp folds a session whose bytes come in pieces, and asks for companions in between.
func cutUp(t *testing.T, s *session, room int, seed uint64) *compactor.Compaction {
	rng := rand.New(rand.NewPCG(seed, 1))
	c, d := door(s, options(room)), registry.Table{}.NewDecoder(s.agent, transcript.Main)
	for off := 0; off < len(s.data); {
		n := min(len(s.data)-off, 1+rng.IntN(40000))
		seg := transcript.Segment{Start: transcript.Cursor{Offset: int64(off)}, Data: s.data[off : off+n], Rest: off+n == len(s.data)}
		for r := range d.Records(seg) {
			c.Add(r)
		}
		if rng.IntN(4) == 0 {
			compaction(t, s, c)
		}
		off += n
	}
	return compaction(t, s, c)
}

// same tells whether two companions are equal in all that is said and pointed at.
func same(a, b *compactor.Compaction) bool {
	return reflect.DeepEqual(a.Sections, b.Sections) && reflect.DeepEqual(a.Header, b.Header) && reflect.DeepEqual(a.Pointers, b.Pointers)
}

// TestPiecesDoNotMatter has the same bytes give the same companion, however they were cut.
func TestPiecesDoNotMatter(t *testing.T) {
	for _, s := range sessions(t) {
		for seed, room := range []int{defaultChars, 8000} {
			want := s.companion(t, room)
			if !same(want, cutUp(t, s, room, uint64(seed))) {
				t.Errorf("%s, %d chars: other pieces give another companion", s.name, room)
			}
			if same(want, s.companion(t, room/2)) && chars(rendered(want)) > room/2 {
				t.Errorf("%s: the control: other companions pass for the same", s.name)
			}
		}
	}
}

// misplaced complains about sections that are not in their order, stand twice or are empty.
func misplaced(all []compactor.Section) (bad []string) {
	at := 0
	for _, s := range all {
		for at < len(sectionNames) && sectionNames[at] != s.Name {
			at++
		}
		if at++; at > len(sectionNames) {
			bad = append(bad, s.Name+" is out of its place")
		}
		if strings.TrimSpace(s.Body) == "" {
			bad = append(bad, s.Name+" is empty")
		}
	}
	return bad
}

func TestMisplacedJudges(t *testing.T) {
	part := func(names ...string) (all []compactor.Section) {
		for _, n := range names {
			all = append(all, compactor.Section{Name: n, Body: "- x\n"})
		}
		return all
	}
	wants(t, "in order", misplaced(part("Now", "Files", "Rest")), false)
	wants(t, "not in order", misplaced(part("Files", "Now")), true)
	wants(t, "twice", misplaced(part("Files", "Files")), true)
	wants(t, "not known", misplaced(part("Now", "Later")), true)
	wants(t, "empty", misplaced([]compactor.Section{{Name: "Now", Body: "\n"}}), true)
}
