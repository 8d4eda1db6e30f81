package transcript

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Original returns an item's original as the agent saw it, from its raw span: a JSON string's text (a lone surrogate as
// three bytes of WTF-8), the joined texts of a list of text blocks, an image's decoded bytes, or the raw bytes of
// anything else. The result may be a view of raw. If raw is not valid JSON, it is returned as it is.
func Original(kind Kind, raw []byte) []byte {
	if quoted(raw) && kind != Image && kind != File {
		return unquote(nil, raw)
	}
	if kind == File || !Valid(raw) {
		return raw
	}
	n := Node{Raw: bytes.Trim(raw, " \t\r\n")}
	if kind == Image {
		return imageBytes(n)
	}
	if kind == Result && bytes.Equal(n.Field("content").Raw, []byte(`""`)) { // the block of an output without a text
		return nil
	}
	if text, ok := plain(n); ok {
		return text
	}
	return raw
}

// plain returns the text of a string, or of a list that contains only strings and text blocks.
func plain(n Node) ([]byte, bool) {
	if n.Is('"') {
		return unquote(nil, n.Raw), true
	}
	whole := true
	text, count := joined(n, func(Node) []byte {
		whole = false
		return nil
	})
	return text, whole && count > 0
}

// joined returns the texts of a list's blocks, joined by newline, and their number. other returns the text for a block
// that has none, nil to skip it.
func joined(list Node, other func(block Node) []byte) (text []byte, count int) {
	for block := range list.Elements() {
		t, one := blockText(block), []byte(nil)
		if t.Is('"') {
			one = unquote(nil, t.Raw)
		} else if one = other(block); one == nil {
			continue
		}
		if count++; count > 1 {
			text = append(text, '\n')
		}
		text = append(text, one...)
	}
	return text, count
}

// blockText returns the text of a content block that is a string or a text block.
func blockText(block Node) Node {
	if block.Is('"') {
		return block
	}
	if block.Field("source").Has() || block.Field("image_url").Has() {
		return Node{}
	}
	return block.Field("text")
}

// imageText returns what holds an image in its source: its data, or its URL.
func imageText(n Node) Node {
	if !n.Is('{') {
		return n
	}
	if data := n.Field("data"); data.Has() {
		return data
	}
	return n.Field("url")
}

// imageBytes decodes an image's source: {"type":"base64","data":...}, a data URL, or bare base64. It does not follow
// other URLs.
func imageBytes(n Node) []byte {
	data := imageText(n)
	if !data.Is('"') {
		return n.Raw
	}
	text := unquote(nil, data.Raw)
	if _, inside := ImageData(data.Raw); inside != "" {
		text = []byte(inside)
	} else if bytes.IndexByte(text, ':') >= 0 {
		return text
	}
	out := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	size, err := base64.StdEncoding.Decode(out, text)
	if err != nil {
		return n.Raw
	}
	return out[:size]
}

// Medium says what an image or a document is.
type Medium struct {
	Type  string // "image/png", "application/pdf"; "" if not recorded
	Bytes int    // of the decoded data; 0 if the record has only a link
	Pages int    // of a PDF, 0 if unknown
}

// MediumOf returns what the original of an Image is.
func MediumOf(raw []byte) (m Medium) {
	n := Node{Raw: bytes.TrimSpace(raw)}
	if !Valid(n.Raw) {
		return m
	}
	data := imageText(n)
	for _, name := range []string{"media_type", "mimeType", "mime_type"} {
		m.Type = cmp.Or(m.Type, n.Field(name).Text())
	}
	text := data.Text()
	if media, inside := ImageData(data.Raw); media != "" {
		m.Type, text = media, inside
	} else if strings.Contains(text, ":") && m.Type == "" {
		return m // a link
	}
	const pdf = "JVBERi" // the beginning of one in base64
	switch {
	case n.Field("type").Text() == "text":
		m.Bytes = len(text)
	case strings.HasPrefix(text, pdf):
		content := imageBytes(n)
		m.Type, m.Bytes, m.Pages = "application/pdf", len(content), len(pdfPage.FindAll(content, -1))
	default:
		m.Bytes = len(strings.TrimRight(text, "=")) * 3 / 4
	}
	return m
}

// ImageType returns the type of an image that pages and models show, by its first bytes, "" for anything else.
func ImageType(data []byte) string {
	for _, m := range []struct{ magic, name string }{
		{"\x89PNG\r\n\x1a\n", "image/png"}, {"\xff\xd8\xff", "image/jpeg"}, {"GIF87a", "image/gif"}, {"GIF89a", "image/gif"},
	} {
		if bytes.HasPrefix(data, []byte(m.magic)) {
			return m.name
		}
	}
	if len(data) >= 12 && bytes.HasPrefix(data, []byte("RIFF")) && string(data[8:12]) == "WEBP" {
		return "image/webp"
	}
	return ""
}

// pdfPage matches a page in a PDF whose objects are not packed.
var pdfPage = regexp.MustCompile(`/Type\s*/Page[^s]`)

// String names the medium: "PDF, 3 pages, 12 KB".
func (m Medium) String() string {
	name := "picture"
	switch {
	case m.Type == "application/pdf":
		name = "PDF"
	case m.Type != "":
		name = m.Type
	}
	if m.Pages == 1 {
		name += ", 1 page"
	} else if m.Pages > 1 {
		name += ", " + strconv.Itoa(m.Pages) + " pages"
	}
	switch {
	case m.Bytes == 0:
		return name
	case m.Bytes < 10_000:
		return name + ", " + strconv.Itoa(m.Bytes) + " bytes"
	}
	return name + ", " + strconv.Itoa((m.Bytes+500)/1000) + " KB"
}

// Chars returns the number of Unicode characters of Original(Text, raw) without building it. An invalid byte counts as
// one, as does a lone surrogate. A value that is no string and no list counts its raw characters. In a list only the
// texts of its blocks and the raw blocks of an unknown form count: images and documents count 0.
func Chars(raw []byte) int {
	if quoted(raw) {
		return stringChars(raw)
	}
	n := Node{Raw: bytes.Trim(raw, " \t\r\n")}
	if len(n.Raw) == 0 || !Valid(n.Raw) {
		return utf8.RuneCount(raw)
	}
	switch n.Raw[0] {
	case '"':
		return stringChars(n.Raw)
	case '{':
		if isImage(n) {
			return 0
		}
	case '[':
		return utf8.RuneCount(listText(n, func() {}))
	}
	return utf8.RuneCount(n.Raw)
}

// listText returns the texts of a list's blocks, and the raw blocks of an unknown form. image is called for each image.
func listText(list Node, image func()) []byte {
	text, _ := joined(list, func(block Node) []byte {
		if isImage(block) {
			image()
			return nil
		}
		return block.Raw
	})
	return text
}

// isImage reports whether the value is the source of an image or document, or a block with one.
func isImage(n Node) bool {
	switch string(n.Field("type").Raw) {
	case `"image"`, `"input_image"`, `"document"`:
		return true
	case `"base64"`:
		return n.Field("data").Has()
	}
	return false
}

// quoted reports whether raw is a single quoted string. It only looks for the end, because an unknown escape stands for
// the character after the backslash.
func quoted(raw []byte) bool {
	return len(raw) > 1 && raw[0] == '"' && raw[len(raw)-1] == '"' && skipString(raw, 0) == len(raw)
}

// stringChars counts the characters of a JSON string with its quotes.
func stringChars(raw []byte) int {
	body := raw[1 : len(raw)-1]
	count := 0
	for {
		i := bytes.IndexByte(body, '\\')
		if i < 0 {
			return count + utf8.RuneCount(body)
		}
		_, size := escaped(body[i:])
		count += utf8.RuneCount(body[:i]) + 1
		body = body[i+size:]
	}
}

// unquote appends the text of a valid JSON string with quotes.
func unquote(to, raw []byte) []byte {
	body := raw[1 : len(raw)-1]
	for {
		i := bytes.IndexByte(body, '\\')
		if i < 0 {
			if to == nil {
				return body[:len(body):len(body)]
			}
			return append(to, body...)
		}
		if to == nil {
			to = make([]byte, 0, len(body))
		}
		to = append(to, body[:i]...)
		r, size := escaped(body[i:])
		if utf16.IsSurrogate(r) {
			to = append(to, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0xbf, 0x80|byte(r)&0xbf)
		} else {
			to = utf8.AppendRune(to, r)
		}
		body = body[i+size:]
	}
}

// escaped returns the character of an escape sequence and its length in bytes. A surrogate pair is one character, a
// lone surrogate is returned as it is.
func escaped(b []byte) (rune, int) {
	r, ok := unit(b)
	if !ok {
		if i := strings.IndexByte("bfnrt", b[1]); i >= 0 {
			return rune("\b\f\n\r\t"[i]), 2
		}
		return rune(b[1]), 2
	}
	if second, ok := unit(b[6:]); ok {
		if pair := utf16.DecodeRune(r, second); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return r, 6
}

// unit returns the UTF-16 code unit of the escape `\uXXXX` at the beginning of b.
func unit(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	u, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(u), err == nil
}

// Unescaped undoes all JSON escapes.
func Unescaped(line []byte) []byte {
	out := make([]byte, 0, len(line))
	for {
		i := bytes.IndexByte(line, '\\')
		if i < 0 || i+1 == len(line) {
			return append(out, line...)
		}
		out = append(out, line[:i]...)
		r, ok := unit(line[i:])
		if !ok {
			out, line = append(out, line[i+1]), line[i+2:]
			continue
		}
		line = line[i+6:]
		if second, ok := unit(line); ok && utf16.DecodeRune(r, second) != unicode.ReplacementChar {
			r, line = utf16.DecodeRune(r, second), line[6:]
		}
		out = utf8.AppendRune(out, r)
	}
}

// Readable returns an item's text for a person: a string's text, the joined texts of a list, or, for a call's input or
// a result that is a JSON object (possibly in a string), the JSON with the escapes in its strings decoded. Images and
// encrypted reasoning have none. same means that the text equals the result of Original. The result may be a view of
// raw.
func Readable(kind Kind, raw []byte) (text []byte, same bool) {
	switch {
	case kind == Image:
		return nil, false
	case kind == File:
		return raw, true
	case quoted(raw):
		return readableText(kind, unquote(nil, raw))
	case !Valid(raw):
		return raw, true
	}
	n := Node{Raw: bytes.Trim(raw, " \t\r\n")}
	switch {
	case isImage(n):
		return nil, false
	case n.Is('['):
		return readableList(n)
	case n.Is('{'):
		return unescapedJSON(n.Raw), false
	}
	return raw, true
}

func readableText(kind Kind, text []byte) ([]byte, bool) {
	if kind == Thinking && len(bytes.TrimLeft(text, inBase64)) == 0 {
		return nil, false // one word of nothing else: encrypted, or a signature
	}
	if (kind == Call || kind == Result) && len(text) > 1 && text[0] == '{' && Valid(text) {
		return unescapedJSON(text), false
	}
	return text, true
}

// inBase64 are the characters of both kinds of it.
const inBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+/=-"

func readableList(n Node) (text []byte, same bool) {
	same = true
	text, count := joined(n, func(block Node) []byte {
		same = false
		if isImage(block) {
			return nil
		}
		return unescapedJSON(block.Raw)
	})
	return text, same && count > 0
}

// unescapedJSON returns a valid JSON value with the escapes in its strings decoded, or the value itself if there are
// none.
func unescapedJSON(value []byte) []byte {
	if bytes.IndexByte(value, '\\') < 0 {
		return value
	}
	text := make([]byte, 0, len(value))
	for {
		i := bytes.IndexByte(value, '"')
		if i < 0 {
			return append(text, value...)
		}
		end := skipString(value, i)
		text = append(text, value[:i+1]...)
		text = append(unquote(text, value[i:end]), '"')
		value = value[end:]
	}
}

// Argument returns where in an item's readable text the string begins and ends that has a position, or of position 0 the first one that is
// not empty. ok is false if it is none, but a key, or the item is no JSON object.
func Argument(raw []byte, at int) (from, to int, ok bool) {
	value := bytes.Trim(raw, " \t\r\n")
	if quoted(value) {
		value = unquote(nil, value)
	}
	if !(Node{Raw: value}).Is('{') || !Valid(value) {
		return 0, 0, false
	}
	for {
		i := bytes.IndexByte(value, '"')
		if i < 0 {
			return 0, 0, false
		}
		end := skipString(value, i)
		from = to + i + 1
		to = from + len(unquote(nil, value[i:end]))
		value = value[end:]
		isKey := bytes.HasPrefix(bytes.TrimLeft(value, " \t\r\n"), []byte{':'})
		if !isKey && to > from && (at == 0 || from <= at && at < to) {
			return from, to, true
		}
		to++
	}
}

// Forget drops the tools of earlier calls, so that the decoder can be used for lines that are not consecutive.
func (d *Decoder) Forget() {
	d.tools, d.State = memory[string]{}, nil
}
