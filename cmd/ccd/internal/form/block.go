package form

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// block is one content block of a message, whose value may be shortened.
type block struct {
	transcript.Block // Raw is nil for a giant value, of which only head and tail are kept
	head             string
	tail             string
	giant            bool
	chars            int // of the text of Raw
	id               mark.ID
	most             int  // limit in chars
	pictures         bool // a result with images
	told             bool // a call that is described in words
}

// cost returns how many chars the block takes if its limit is about most.
func (b *block) cost(most int) int {
	switch {
	case b.Kind == transcript.Image:
		return 0
	case b.chars <= most && !b.giant:
		return b.chars
	}
	return min(b.chars, transcript.Chars(b.short(most)))
}

// says reports whether the block is a text.
func (b *block) says() bool {
	return b.Kind == transcript.Human || b.Kind == transcript.Summary || b.Kind == transcript.Text
}

// shown returns the block with its value cut to about its limit. pictures says whether images are kept.
func (b *block) shown(pictures bool) transcript.Block {
	out := b.Block
	out.Tool = cmp.Or(b.Tool, "tool")
	switch {
	case b.told:
		out.Kind, out.Raw = transcript.Text, transcript.Quote(b.words())
	case b.Kind == transcript.Image && !pictures:
		out.Kind = transcript.Text
		out.Raw = transcript.Quote(mark.New(b.id, fmt.Sprintf("image, %d KB", (len(b.Raw)*3/4+1023)/1024)))
	case b.Kind == transcript.Image:
	case b.pictures && !pictures:
		text := inert(transcript.PlainText(transcript.Node{Raw: b.Raw}))
		out.Raw = transcript.Quote(strings.TrimPrefix(text+"\n"+mark.New(b.id, "with its images"), "\n"))
		if utf8.RuneCountInString(text) > b.most {
			out.Raw = b.short(b.most)
		}
	case b.chars > b.most || b.giant:
		out.Raw = b.short(b.most)
	}
	return out
}

// words describes a call without a result in words.
func (b *block) words() string {
	text := b.head
	if !b.giant {
		text = string(transcript.Original(transcript.Text, b.Raw))
	}
	return fmt.Sprintf("(%s was called and gave no result) %s", mark.Inline(b.Tool, 60), mark.Inline(text, 300))
}

// short cuts the value to about most chars: its beginning, a marker, its end. The rest of the text is escaped, so that it
// cannot pass for a marker.
func (b *block) short(most int) []byte {
	if b.Kind == transcript.Call {
		return b.shortInput(most)
	}
	return transcript.Quote(b.ends(most))
}

func (b *block) ends(most int) string {
	first, last := b.head, b.tail
	if !b.giant {
		first = string(transcript.Original(transcript.Text, b.Raw))
		last = first
	}
	first, last = inert(head(first, most/2)), inert(lexicon.Tail(last, most/8))
	return strings.TrimRight(first, "\n") + "\n" + mark.New(b.id, fmt.Sprintf("cut, %d chars", b.chars)) + "\n" + last
}

// shortInput cuts the long members of a call's input, which stays a JSON object.
func (b *block) shortInput(most int) []byte {
	marker := mark.New(b.id, fmt.Sprintf("cut, %d chars", b.chars))
	var parts []string
	size := 0
	for name, member := range (transcript.Node{Raw: b.Raw}).Members() {
		value := member.Raw
		n := transcript.Chars(value)
		switch {
		case n <= most/4:
		case value[0] == '"':
			text := inert(head(string(transcript.Original(transcript.Text, value)), most/4))
			value = transcript.Quote(strings.TrimRight(text, "\n") + "\n" + marker)
		default:
			value = transcript.Quote(marker)
		}
		size += transcript.Chars(value)
		parts = append(parts, transcript.QuoteText(string(name))+":"+string(value))
	}
	if b.giant || len(parts) == 0 || size > 2*most {
		parts = []string{`"ccd":` + transcript.QuoteText(b.ends(most))}
	}
	return []byte("{" + strings.Join(parts, ",") + "}")
}

// inert escapes transcript text so that it cannot pass for one of ccd's markers.
func inert(text string) string { return strings.ReplaceAll(text, "[ccd", `[\ccd`) }

// head returns the first n chars of a text, without an incomplete last line if that line is short.
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
