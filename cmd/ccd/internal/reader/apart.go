package reader

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"ccd/internal/transcript"
)

// maxApart is the size, in bytes, up to which an original is looked through for images.
const maxApart = 16 << 20

// Apart parts an original that holds images beside text. It returns none where there are none beside text: then the
// original is what write prints.
func (o Original) Apart(ctx context.Context) (text []byte, images [][]byte, err error) {
	may := slices.ContainsFunc(o.found.Parts, func(p transcript.Part) bool { // of one image alone there is nothing to part
		return p.Kind == transcript.Result || p.Kind == transcript.Image && len(o.found.Parts) > 1
	})
	if !may || o.raw || o.Whole || o.found.Shape == transcript.Lines || o.Bytes() > maxApart {
		return nil, nil, nil
	}
	hidden, err := o.secrets(ctx)
	if err != nil {
		return nil, nil, err
	}
	var texts [][]byte
	for p, err := range o.library.Archive.Raw(ctx, o.found) {
		if err != nil {
			return nil, nil, err
		}
		t, i := parted(p.Part.Kind, hidden.hide(p.Data, p.Part.Span.Off))
		texts, images = append(texts, t...), append(images, i...)
	}
	return bytes.Join(texts, []byte{'\n'}), images, nil
}

// Picture reports whether the original is an image and nothing else.
func (o Original) Picture() bool {
	return !o.Whole && !slices.ContainsFunc(o.found.Parts, func(p transcript.Part) bool { return p.Kind != transcript.Image })
}

// parted returns the texts and the images of one part. They share no memory with data.
func parted(kind transcript.Kind, data []byte) (texts, images [][]byte) {
	seen := bytes.Clone(transcript.Original(kind, data))
	if kind == transcript.Image {
		return nil, [][]byte{seen}
	}
	var blocks []struct {
		Source json.RawMessage `json:"source"`
		URL    json.RawMessage `json:"image_url"`
		Text   json.RawMessage `json:"text"`
	}
	if data = bytes.TrimSpace(data); !bytes.HasPrefix(data, []byte{'['}) || json.Unmarshal(data, &blocks) != nil {
		return [][]byte{seen}, nil
	}
	for _, b := range blocks {
		switch {
		case b.Source != nil:
			images = append(images, transcript.Original(transcript.Image, b.Source))
		case b.URL != nil:
			images = append(images, transcript.Original(transcript.Image, b.URL))
		case b.Text != nil:
			texts = append(texts, transcript.Original(transcript.Text, b.Text))
		default:
			return [][]byte{seen}, nil // a block of another kind: it is given as it stands
		}
	}
	if len(images) == 0 {
		return [][]byte{seen}, nil
	}
	return texts, images
}
