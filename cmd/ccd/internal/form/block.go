package form

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// sort is what a block of a message is.
type sort uint8

const (
	isText sort = iota
	isCall
	isResult
	isImage
)

// block is one content block of a message: a value that may be shortened, and the JSON around it.
type block struct {
	kind     sort
	call     string // what pairs calls and results
	tool     string
	value    []byte    // JSON; of a giant only what head and tail have
	around   [2][]byte // what stands before and behind value
	head     string    // how a giant's text begins, and how it ends
	tail     string
	giant    bool
	chars    int // of the text of value
	id       mark.ID
	message  string // blocks with the same one came in one reply
	most     int    // chars, where its message is put together of several
	pictures bool   // a result that holds images

	answered bool
	dropped  bool
	told     bool // a call that is told in words
}

// giant is the size of a value beyond which only its ends are kept, in bytes.
const giant = 256 << 10

// newBlock takes a value as it stands in a record. Its ID is that of the item.
func newBlock(kind sort, raw []byte) block {
	b := block{kind: kind, id: idOf(raw)}
	if kind != isImage {
		b.chars = transcript.Chars(raw)
	}
	if len(raw) <= giant || kind == isImage {
		b.value = utf(raw)
		return b
	}
	text := string(transcript.Original(transcript.Text, raw))
	b.giant, b.head, b.tail = true, strings.Clone(head(text, giant/8)), strings.Clone(lexicon.Tail(text, 1000))
	return b
}

// cost is how many chars of text the block has where it may have about most.
func (b *block) cost(most int) int {
	switch {
	case b.dropped, b.kind == isImage:
		return 0
	case b.chars <= most && !b.giant:
		return b.chars
	}
	return min(b.chars, transcript.Chars(b.short(most)))
}

// json is the block as it is given, with its value in at most about most chars; pictures tells whether an image stands
// whole.
func (b *block) json(most int, pictures bool) []byte {
	if b.told {
		return textBlock([]byte(quoted(b.words())))
	}
	value := b.value
	switch {
	case b.kind == isImage && !pictures:
		return textBlock([]byte(quoted(mark.New(b.id, fmt.Sprintf("image, %d KB", (len(b.value)*3/4+1023)/1024)))))
	case b.kind == isImage:
	case b.pictures && !pictures:
		text := inert(string(transcript.Original(transcript.Text, textsOf(b.value))))
		value = []byte(quoted(strings.TrimPrefix(text+"\n"+mark.New(b.id, "with its images"), "\n")))
		if utf8.RuneCountInString(text) > most {
			value = b.short(most)
		}
	case b.chars > most || b.giant:
		value = b.short(most)
	}
	return bytes.Join([][]byte{b.around[0], value, b.around[1]}, nil)
}

func textBlock(value []byte) []byte {
	return bytes.Join([][]byte{[]byte(`{"type":"text","text":`), value, []byte(`}`)}, nil)
}

// words is a call that was never answered, in words.
func (b *block) words() string {
	text := b.head
	if !b.giant {
		text = string(transcript.Original(transcript.Text, b.value))
	}
	return fmt.Sprintf("(%s was called and gave no result) %s", mark.Inline(b.tool, 60), mark.Inline(text, 300))
}

// short is the value in about most chars: its beginning, a marker, its end. What is left of the text cannot pose as
// ours.
func (b *block) short(most int) []byte {
	if b.kind == isCall {
		return b.shortInput(most)
	}
	return []byte(quoted(b.ends(most)))
}

func (b *block) ends(most int) string {
	first, last := b.head, b.tail
	if !b.giant {
		first = string(transcript.Original(transcript.Text, b.value))
		last = first
	}
	first, last = inert(head(first, most/2)), inert(lexicon.Tail(last, most/8))
	return strings.TrimRight(first, "\n") + "\n" + mark.New(b.id, fmt.Sprintf("cut, %d chars", b.chars)) + "\n" + last
}

// shortInput keeps a call's input an object, with its short members: what is too long in it is cut.
func (b *block) shortInput(most int) []byte {
	marker := mark.New(b.id, fmt.Sprintf("cut, %d chars", b.chars))
	var parts []string
	size := 0
	input := b.value
	for name, member := range (value{raw: input}).members() {
		value := member.raw
		n := transcript.Chars(value)
		switch {
		case n <= most/4:
		case value[0] == '"':
			text := inert(head(string(transcript.Original(transcript.Text, value)), most/4))
			value = []byte(quoted(strings.TrimRight(text, "\n") + "\n" + marker))
		default:
			value = []byte(quoted(marker))
		}
		size += transcript.Chars(value)
		parts = append(parts, quoted(name)+":"+string(value))
	}
	if b.giant || len(parts) == 0 || size > 2*most {
		parts = []string{`"ccd":` + quoted(b.ends(most))}
	}
	object := "{" + strings.Join(parts, ",") + "}"
	return []byte(object)
}

func idOf(raw []byte) mark.ID { return mark.Sum(raw).ID() }

// inert makes text of a transcript unable to pose as ours within a text that we compose.
func inert(text string) string { return strings.ReplaceAll(text, "[ccd", `[\ccd`) }

// head is the first n chars of a text, without a line that was cut if that is a small part of them.
func head(text string, n int) string {
	i := 0
	for at := range text {
		if i == n {
			cut := text[:at]
			if j := strings.LastIndexByte(cut, '\n'); j > len(cut)*3/4 {
				return cut[:j+1]
			}
			return cut
		}
		i++
	}
	return text
}

// quoted is text as a JSON string. What is not UTF-8 in it becomes U+FFFD.
func quoted(text string) string {
	q, err := jsontext.AppendQuote(nil, strings.ToValidUTF8(text, "\ufffd"))
	if err != nil { // it cannot be: the text is UTF-8
		return `""`
	}
	return string(q)
}
