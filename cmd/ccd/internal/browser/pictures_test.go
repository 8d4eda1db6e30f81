//go:build rig

package browser

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ccd/internal/testkit"

	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// mostPicture is how many bytes a picture of the documents may have.
const mostPicture = 120_000

// asAtHome replaces the temporary home by one that a reader knows.
const asAtHome = `(() => { const all = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT); while (all.nextNode()) all.currentNode.data = all.currentNode.data.replaceAll(%q, '/home/me'); return true })()`

// TestPictures writes the pictures of docs/LOOK.md into $CCD_PICTURES, and checks in any case that they can be taken and are
// small.
func TestPictures(t *testing.T) {
	s := serve(t, story(t))
	starts(t, s.home, "run")
	p := newTab(t)
	p.enter(s, "/")
	for _, one := range []struct {
		name, path string
		width      int64
		height     int64
		dark       bool
	}{
		{"web-sessions", "/", 1280, 800, false},
		{"web-sessions-420", "/", 420, 1000, false},
		{"web-session", sessionURL(shopID) + "?at=1", 1280, 1100, false},
		{"web-session-420", sessionURL(shopID) + "?at=1", 420, 1000, true},
		{"web-compaction", sessionURL(ledgerID) + "/compactions/1", 1280, 720, false},
		{"web-compaction-dark", sessionURL(ledgerID) + "/compactions/1", 1280, 1300, true},
		{"web-file", sessionURL(shopID) + "/file?path=shop/tax.py", 1280, 800, true},
	} {
		p.size(one.width, one.dark)
		p.do("set the size", chromedp.EmulateViewport(one.width, one.height))
		p.open(s.base + one.path)
		p.await("the compactions of the week are read", "!document.body.innerText.includes('Adding up')")
		eval[bool](p, fmt.Sprintf(asAtHome, s.home))
		picture := small(t, p.picture())
		if len(picture) > mostPicture {
			t.Errorf("%s has %d bytes", one.name, len(picture))
		}
		if dir := os.Getenv("CCD_PICTURES"); dir != "" {
			testkit.Must(t, os.WriteFile(filepath.Join(dir, one.name+".png"), picture, 0o644))
		}
	}
}

// picture returns what the window shows, as PNG.
func (p *tab) picture() (data []byte) {
	p.t.Helper()
	p.call(func(ctx context.Context) error {
		got, err := chromedp.Call(ctx, cdppage.CaptureScreenshot, cdppage.CaptureScreenshotParams{})
		data = got.Data
		return err
	})
	return data
}

// small returns a picture with the 256 colours that it uses most. A page has few colours besides the edges of its letters.
func small(t testing.TB, data []byte) []byte {
	t.Helper()
	full, err := png.Decode(bytes.NewReader(data))
	testkit.Must(t, err)
	count := map[color.RGBA]int{}
	at := func(x, y int) color.RGBA { return color.RGBAModel.Convert(full.At(x, y)).(color.RGBA) }
	box := full.Bounds()
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			count[at(x, y)]++
		}
	}
	all := make([]color.RGBA, 0, len(count))
	for c := range count {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b color.RGBA) int {
		if n := count[b] - count[a]; n != 0 {
			return n
		}
		return (int(a.R)<<16 | int(a.G)<<8 | int(a.B)) - (int(b.R)<<16 | int(b.G)<<8 | int(b.B))
	})
	palette := color.Palette{}
	near := func(a, b color.RGBA) bool {
		return abs(int(a.R)-int(b.R))+abs(int(a.G)-int(b.G))+abs(int(a.B)-int(b.B)) < 12
	}
	for _, c := range all {
		if len(palette) < 256 && !slices.ContainsFunc(palette, func(old color.Color) bool { return near(old.(color.RGBA), c) }) {
			palette = append(palette, c)
		}
	}
	index := map[color.RGBA]uint8{}
	out := image.NewPaletted(box, palette)
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			c := at(x, y)
			i, ok := index[c]
			if !ok {
				i = uint8(palette.Index(c))
				index[c] = i
			}
			out.SetColorIndex(x, y, i)
		}
	}
	var b bytes.Buffer
	testkit.Must(t, (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, out))
	return b.Bytes()
}

func abs(n int) int { return max(n, -n) }
