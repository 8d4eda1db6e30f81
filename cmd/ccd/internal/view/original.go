package view

import (
	"bytes"
	"context"
	"errors"

	"ccd/cmd/ccd/internal/reader"
	"ccd/internal/transcript"
)

// Original is an archived original, as a page shows it.
type Original struct {
	reader.Info
	Text      string // as the agent saw it, redacted, at most MaxShown bytes
	Line      string // the transcript's line or lines, redacted, at most MaxShown bytes
	Cut       bool   // Text or Line is not all of it
	Secrets   string // those left out, by kind
	MediaType string // of an image, else ""
}

// MaxShown is how much of an original is shown, in bytes. The rest is a download.
const MaxShown = 512 << 10

// Show reads all of an original and checks its hash. The error is an *archive.DamageError if its bytes are damaged.
func Show(ctx context.Context, o reader.Original) (out Original, err error) {
	if out.Info, err = o.Info(ctx); err != nil {
		return Original{}, err
	}
	if out.Shape == "lines" && out.Record == out.Last {
		out.Kind = "record"
	}
	if out.Secrets, err = o.Hidden(ctx); err != nil {
		return Original{}, err
	}
	if out.Text, out.Cut, err = shown(ctx, o); err != nil {
		return Original{}, err
	}
	if out.MediaType = transcript.ImageType([]byte(out.Text)); out.MediaType != "" {
		out.Text, out.Cut = "", false
	}
	if out.Record != 0 {
		var cut bool
		out.Line, cut, err = shown(ctx, o.Raw())
		out.Cut = out.Cut || cut
	}
	return out, err
}

var errFull = errors.New("enough")

// limited keeps the first MaxShown bytes that are written to it, then fails with errFull.
type limited struct{ bytes.Buffer }

// Write implements io.Writer.
func (l *limited) Write(p []byte) (int, error) {
	if room := MaxShown - l.Len(); len(p) > room {
		l.Buffer.Write(p[:room])
		return room, errFull
	}
	return l.Buffer.Write(p)
}

func shown(ctx context.Context, o reader.Original) (text string, cut bool, err error) {
	var w limited
	if err = o.Write(ctx, &w); errors.Is(err, errFull) {
		return w.String(), true, nil
	}
	return w.String(), false, err
}
