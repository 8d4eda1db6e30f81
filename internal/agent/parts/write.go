package parts

import "ccd/internal/transcript"

// Part returns a block of a draft as the part of a message.
func Part(b *transcript.Block) string {
	switch b.Kind {
	case transcript.Call:
		return `{"functionCall":{"id":` + transcript.QuoteText(b.Call) + `,"name":` + transcript.QuoteText(b.Tool) + `,"args":` + string(b.Raw) + `}}`
	case transcript.Result:
		return `{"functionResponse":{"id":` + transcript.QuoteText(b.Call) + `,"name":` + transcript.QuoteText(b.Tool) + `,"response":{"output":` + string(b.Raw) + `}}}`
	case transcript.Image:
		media, data := transcript.ImageData(b.Raw)
		return `{"inlineData":{"mimeType":` + transcript.QuoteText(media) + `,"data":` + transcript.QuoteText(data) + `}}`
	}
	return `{"text":` + string(b.Raw) + `}`
}
