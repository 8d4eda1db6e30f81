package archive

import (
	"context"
	"iter"
	"time"

	"github.com/klauspost/compress/zstd"

	"ccd/internal/transcript"
)

type (
	politeness struct{}
	verdict    struct{ at time.Time }
)

func newEncoder() (*zstd.Encoder, error) { return zstd.NewWriter(nil) }
func newDecoder() (*zstd.Decoder, error) { return zstd.NewReader(nil) }

// Append stores.
func (a *Archive) Append(ctx context.Context, s transcript.Session, seg transcript.Segment) error {
	panic("soon")
}

// Session returns.
func (a *Archive) Session(ctx context.Context, k transcript.Key) (Session, error) { panic("soon") }

// Sessions returns.
func (a *Archive) Sessions(ctx context.Context) ([]Session, error) { panic("soon") }

// SetState stores.
func (a *Archive) SetState(ctx context.Context, s transcript.Session, state []byte) error {
	panic("soon")
}

// Publication is what Publish does.
type Publication struct {
	Key      transcript.Key
	At       transcript.Cursor                // the stored tip must still be here (generation and offset), else ErrStale
	State    []byte                           // must equal the stored one, else ErrStale
	Pointers []transcript.Pointer             // into generation At.Generation
	Replace  func() (state []byte, err error) // puts the companion in place and returns the state to store
}

// Publish publishes.
func (a *Archive) Publish(ctx context.Context, p Publication) error { panic("soon") }

// Reader reads.
type Reader struct{}

// Reader returns.
func (a *Archive) Reader(k transcript.Key, generation int) *Reader { panic("soon") }

// Span returns.
func (r *Reader) Span(ctx context.Context, s transcript.Span) ([]byte, error) { panic("soon") }

// Segments returns.
func (r *Reader) Segments(ctx context.Context) iter.Seq2[transcript.Segment, error] { panic("soon") }

// Found is a pointer that an ID names.
type Found struct {
	transcript.Pointer
	Key        transcript.Key
	Generation int
}

// Lookup finds.
func (a *Archive) Lookup(ctx context.Context, prefix string) ([]Found, error) { panic("soon") }

// Piece is a stretch of an original.
type Piece struct {
	Index int             // of the part, from 0
	Part  transcript.Part // the whole part
	Data  []byte          // valid until the next piece
	More  bool            // the part goes on in the next piece (parts over 16 MB, and Lines)
}

// Raw gives.
func (a *Archive) Raw(ctx context.Context, f Found) iter.Seq2[Piece, error] { panic("soon") }

// Report is what Verify found.
type Report struct {
	Sessions, Generations, Frames, Pieces, Pointers int
	Bytes                                           int64 // raw bytes read and hashed
	Damage                                          []*DamageError
}

// Verify checks.
func (a *Archive) Verify(ctx context.Context, progress func(done, total int64)) (Report, error) {
	panic("soon")
}

// Size tells how large the archive is.
type Size struct {
	File     int64 // bytes of the archive file
	Free     int64 // bytes inside it that are free for reuse
	Raw      int64 // bytes of transcripts held
	Frames   int
	Sessions int
}

// Size returns.
func (a *Archive) Size(ctx context.Context) (Size, error) { panic("soon") }
