package daemon

import (
	"time"

	"ccd/watcher"
)

// Progress is how far the daemon is with the files that a scan found. Sizes are those of the files, in bytes.
type Progress struct {
	Since time.Time `json:"since"`
	Bytes int64     `json:"bytes"`
	Done  int64     `json:"done"` // of Bytes: archived and read; companions of files found for the first time are made later

	// Estimates from the speed so far; zero in the first seconds and the first percent.
	Rate int64     `json:"bytes_per_second"`
	Ends time.Time `json:"ends,omitzero"` // about
}

// At returns p with the rate and the end as of now.
func (p Progress) At(now time.Time) Progress {
	took := now.Sub(p.Since)
	if p.Done <= p.Bytes/100 || took < 3*time.Second {
		return p
	}
	rate := float64(p.Done) / took.Seconds()
	left := time.Duration(float64(p.Bytes-p.Done) / rate * float64(time.Second))
	p.Rate, p.Ends = int64(rate), now.Add(left).UTC().Truncate(time.Second)
	return p
}

// catchUp counts the progress with the files that a scan found. Nil counts nothing.
type catchUp struct {
	Progress
	show func(done, all int64)
}

// count counts an offered file whose sync has ended.
func (c *catchUp) count(o *watcher.Offer) {
	if c == nil || !o.Cold {
		return
	}
	o.Cold = false
	c.Done += o.Size
	if c.Bytes = max(c.Bytes, c.Done); c.show != nil {
		c.show(c.Done, c.Bytes)
	}
}

// countFound records that a scan found files of so many bytes that were never offered.
func (d *Daemon) countFound(bytes int64) {
	if d.catchUp == nil && bytes > 0 {
		d.catchUp = &catchUp{Progress: Progress{Since: time.Now().UTC()}, show: d.Progress}
	}
	if c := d.catchUp; c != nil {
		c.Bytes = max(c.Bytes, c.Done+bytes)
	}
}

// progress returns the progress of a catch-up, nil if there is none.
func (d *Daemon) progress() *Progress {
	if d.catchUp == nil {
		return nil
	}
	p := d.catchUp.Progress.At(time.Now())
	return &p
}

// caughtUp ends a catch-up if nothing is left to do.
func (d *Daemon) caughtUp() {
	if d.pool.queued() > 0 || d.health.info.LastPass.IsZero() {
		return
	}
	if tell := d.CaughtUp; tell != nil {
		var r Report
		d.count(&r)
		if r.Sessions == 0 && d.health.info.Watch.Waiting > 0 {
			return // all files that were found are being written
		}
		d.CaughtUp, d.Progress = nil, nil
		for _, s := range d.sessions {
			r.Bytes += s.cursor.Offset
		}
		tell(r)
	}
	if d.catchUp == nil {
		return
	}
	d.catchUp = nil
	d.say(func(h *RunInfo) { h.CatchUp = nil })
}
