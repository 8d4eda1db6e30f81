package archive

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"ccd/internal/transcript"
)

// BenchmarkAppend stores 4 MB segments; bare is zstd level 1 over the same bytes, in the same run.
func BenchmarkAppend(b *testing.B) {
	data := talk(1, 64<<20)
	const step = 4 << 20
	b.Run("bare", func(b *testing.B) {
		enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
		if err != nil {
			b.Fatal(err)
		}
		var out []byte
		b.SetBytes(step)
		for i := 0; b.Loop(); i++ {
			off := i * step % (len(data) - step)
			out = enc.EncodeAll(data[off:off+step], out[:0])
		}
	})
	b.Run("archive", func(b *testing.B) {
		path := filepath.Join(b.TempDir(), "archive.db")
		a := openAt(b, path, Options{})
		b.SetBytes(step)
		off, n := 0, 0
		for b.Loop() {
			if off+step > len(data) { // the same bytes again would be shared
				b.StopTimer()
				off, n = 0, n+1
				a = openAt(b, fmt.Sprint(path, n), Options{})
				b.StartTimer()
			}
			err := a.Append(context.Background(), session("s"), segment(1, int64(off), data[off:off+step]))
			if err != nil {
				b.Fatal(err)
			}
			off += step
		}
	})
	b.Run("small", func(b *testing.B) {
		a := openAt(b, filepath.Join(b.TempDir(), "archive.db"), Options{})
		const step = 4 << 10
		b.SetBytes(step)
		for off := 0; b.Loop(); off += step {
			at := off % (len(data) - step)
			if err := a.Append(context.Background(), session("s"), segment(1, int64(off), data[at:at+step])); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	data := talk(1, 64<<20)
	a := openAt(b, filepath.Join(b.TempDir(), "archive.db"), Options{})
	fill(b, a, session("s"), 1, data, func() int { return 4 << 20 })
	b.Run("segments", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if got, _, err := everything(a.Reader(session("s").Key, 1)); len(got) != len(data) || err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("span", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			r := a.Reader(session("s").Key, 1)
			_, err := r.Span(context.Background(), transcript.Span{Off: int64(i*7919*4099) % int64(len(data)-4000), Len: 4000})
			if err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("session", func(b *testing.B) {
		for b.Loop() {
			if _, err := a.Session(context.Background(), session("s").Key); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("verify", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			start := time.Now()
			if r := sound(b, a); r.Bytes != int64(len(data)) {
				b.Fatal(r)
			}
			_ = start
		}
	})
}
