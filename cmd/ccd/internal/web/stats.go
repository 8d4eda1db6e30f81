package web

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"

	"ccd/archive"
	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/status"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

const (
	mostDays = 60 // of the pictures
	mostBars = 15
)

// statsData is the page of what was saved.
type statsData struct {
	status.Stats
	Archive  int64   `json:"archive_bytes"` // of the archive's file
	Raw      int64   `json:"raw_bytes"`     // of the transcripts in it
	Growth   []grown `json:"growth"`        // the oldest day first
	Days     []bar   `json:"-"`
	Projects []bar   `json:"-"`
	Line     string  `json:"-"` // of the growth, as an SVG path of 1000 by 120
	Area     string  `json:"-"`
}

// grown is how much was archived up to a day.
type grown struct {
	Day   string `json:"day"`
	Bytes int64  `json:"bytes"`
}

func statsPage(_ context.Context, r *request) (answer, error) {
	l := r.library
	d := statsData{Stats: status.StatsOf(l.Sessions, l.Restores())}
	d.Damage = l.Damages()
	files, _ := archive.Files(l.ArchivePath) // without them its size is not shown
	for _, path := range files {
		if info, err := os.Stat(path); err == nil {
			d.Archive += info.Size()
		}
	}
	d.grow(l.Sessions)
	d.Days = bars(d.ByDay[:min(len(d.ByDay), mostBars)], func(g *status.Group) (string, int64, string, string) {
		return g.Day, g.Size, words.Tokens(g.Size), words.Count(g.Sessions, "session")
	})
	d.Projects = bars(d.ByProject[:min(len(d.ByProject), mostBars)], func(g *status.Group) (string, int64, string, string) {
		return g.Project, g.Size, words.Tokens(g.Size), words.Count(g.Sessions, "session") + ", about " + words.Tokens(g.Saved) + " saved"
	})
	return answer{"stats", d}, nil
}

// grow adds up the bytes of the transcripts by the day of their sessions' last record.
func (d *statsData) grow(all []reader.Entry) {
	byDay := map[string]int64{}
	for i := range all {
		e := &all[i]
		d.Raw += e.Bytes()
		if at := e.Last(); !at.IsZero() && e.Class != transcript.Attachment {
			byDay[at.Local().Format("2006-01-02")] += e.Bytes()
		}
	}
	var sum int64
	for day, n := range byDay {
		d.Growth = append(d.Growth, grown{day, n})
	}
	slices.SortFunc(d.Growth, func(a, b grown) int { return cmp.Compare(a.Day, b.Day) })
	for i := range d.Growth {
		sum += d.Growth[i].Bytes
		d.Growth[i].Bytes = sum
	}
	d.Growth = d.Growth[max(0, len(d.Growth)-mostDays):]
	if len(d.Growth) < 2 {
		return
	}
	for i, g := range d.Growth {
		step := "L"
		if i == 0 {
			step = "M"
		}
		d.Line += fmt.Sprintf("%s%.0f %.1f", step, 1000*float64(i)/float64(len(d.Growth)-1), 118-116*float64(g.Bytes)/float64(max(1, sum)))
	}
	d.Area = d.Line + "L1000 120L0 120Z"
}
