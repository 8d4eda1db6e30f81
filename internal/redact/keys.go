package redact

import (
	"bytes"
)

// Private keys are lines of base64 between a line with BEGIN and one with END, either of which may be missing.

const (
	keyLead  = `[^\nA-Za-z0-9+/]{0,16}(?:\d{1,6}[^\nA-Za-z0-9+/]{1,4})?` // of a line: an indentation, a number
	keyTail  = `=*[^\nA-Za-z0-9+/]{0,6}\n?`
	keyLines = `(?:` + keyLead + `[A-Za-z0-9+/]{16,}` + keyTail + `)+(?:` + keyLead + `[A-Za-z0-9+/]{1,64}(?:=+` + keyTail + `|` + keyTail + keyLead + `-----))?`
)

var (
	keyAfter  = lazy(`^[^-\n]{0,20}-----(?:[^\n]{0,76}\n){0,4}?(` + keyLines + `)`)
	keyBefore = lazy(keyLines + `$`)
)

const maxKey = 16 << 10

// key marks the private key of a line with "PRIVATE KEY" at byte i.
func (s *scan) key(v *view, i int) {
	off, head := max(0, i-40), v.text[max(0, i-40):i]
	from, to := 0, 0
	switch begin, end := bytes.LastIndex(head, []byte("BEGIN")), bytes.LastIndex(head, []byte("-----END")); {
	case begin > end:
		i += len("PRIVATE KEY")
		if at := keyAfter().FindSubmatchIndex(v.text[i:min(len(v.text), i+maxKey)]); at != nil {
			from, to = i+at[2], i+at[3]
		}
	case end >= 0 && off+end >= v.keys: // else it is in the key before it
		off += end
		start := max(v.keys, off-maxKey)
		if at := keyBefore().FindIndex(v.text[start:off]); at != nil {
			from, to = start+at[0], start+at[1]
		}
	}
	v.keys = i // what was looked at for one END is not looked at for the next
	key := bytes.TrimRight(v.text[from:to], "- \n\r\"'\\,+|>")
	if to = from + len(key); len(key) >= 32 {
		s.mark(v, to-len(bytes.TrimLeft(key, " \n\"'+|>")), to, privateKind)
		v.keys = to
	}
}
