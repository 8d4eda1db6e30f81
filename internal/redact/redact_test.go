package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"ccd/internal/testkit"
)

// secrets are invented, in parts so that no scanner of this repository takes them for real ones.
var secrets = map[string]string{
	"aws-key":               "AKIA" + "Q7MZKXWVUTSRP2N3",
	"github-pat":            "ghp_" + "x7Kq2mZp9RtVw4Ys8BnCd3Ef6GhJk1LmNoPq",
	"gitlab-pat":            "glpat-" + "x7Kq2mZp9RtVw4Ys8BnC",
	"api-key":               "sk-" + "proj-x7Kq2mZp9RtVw4Ys8BnCd3Ef6",
	"jwt":                   "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0NTY3ODkwIn0" + ".dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
	"gitlab-session-cookie": "_gitlab_session=" + "x7kq2mzp9rtvw4ys8bncd3ef6ghjk1lm",
	"slack-bot-token":       "xoxb-" + "123456789012-123456789012-x7Kq2mZp9RtVw4Ys8BnCd3Ef",
}

func encodings(s string) map[string]string {
	var pieces, hexed strings.Builder
	for _, c := range []byte(s) {
		fmt.Fprintf(&pieces, `\u%04x`, c)
		fmt.Fprintf(&hexed, "%%%02X", c)
	}
	quoted, _ := json.Marshal(map[string]string{"value": s})
	return map[string]string{
		"plain": s, "in JSON": string(quoted), "base64": base64.StdEncoding.EncodeToString([]byte("key=" + s + "\n")),
		"base64url": base64.RawURLEncoding.EncodeToString([]byte(s)), "hex": hex.EncodeToString([]byte(s)), "percent": hexed.String(),
		"query": "https://example.org/?a=" + url.QueryEscape(s) + "&b=1", "shell": "export A='" + s + "'",
		"after a line": "one\n" + s + "\ttwo", "in colour": "\x1b[32m" + s + "\x1b[0m", "by grep": "\x1b[01;31m\x1b[K" + s + "\x1b[m\x1b[K",
		"base64 in a diff": "+" + base64.StdEncoding.EncodeToString([]byte("\nkey="+s+"\n")), "in hex": "0x" + hex.EncodeToString([]byte(s)), "twice in base64": base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString([]byte("a: " + s)))),
	}
}

// shipped are the rules without a configuration.
func shipped(t testing.TB) *Rules {
	t.Helper()
	rules, err := New(Config{})
	testkit.Must(t, err)
	return rules
}

func TestEncodings(t *testing.T) {
	rules := shipped(t)
	for kind, secret := range secrets {
		for name, text := range encodings(secret) {
			for _, around := range []string{"%s", "see %s.", "a line\n%s\nanother", strings.Repeat("long ", 3000) + "%s", "`%s`", "KEY=%s", "<%s>", "'%s'"} {
				text := fmt.Sprintf(around, text)
				line, _ := json.Marshal(map[string]any{"type": "user", "text": text})
				double, _ := json.Marshal(map[string]any{"out": string(line)})
				slashes := strings.ReplaceAll(string(line), "/", `\/`)
				strict := strings.NewReplacer("'", `\u0027`, `\"`, `\u0022`, "`", `\u0060`).Replace(string(line))
				for _, one := range []string{string(line), string(double), slashes, strict, text} {
					session := rules.Session()
					shown := string(Apply([]byte(one), 0, session.Marks([]byte(one))))
					if !strings.Contains(shown, "[redacted "+kind+" 1]") {
						t.Errorf("%s %s %.20q: %.300s", kind, name, around, shown[max(0, len(shown)-300):])
					}
					for _, part := range []string{secret[6:18], text} {
						if len(part) < 200 && strings.Contains(shown, part) && !strings.Contains(part, "redacted") {
							t.Errorf("%s %s: %q is in %.300s", kind, name, part, shown)
						}
					}
					if one[0] == '{' && !json.Valid([]byte(shown)) {
						t.Errorf("%s %s: no JSON: %s", kind, name, shown)
					}
				}
			}
		}
	}
}

// TestOwn: a rule of the configuration finds its secret in a text and in each string of JSON, however short; what is allowed is shown.
func TestOwn(t *testing.T) {
	rules, err := New(Config{Rules: map[string]string{"badge": `^B(\d{3}) *$`}, Allow: []string{"007"}})
	testkit.Must(t, err)
	for line, want := range map[string]string{"B123    ": "B[redacted badge 1]    ", `{"B124":["B125","B007","B12"]}`: `{"B[redacted badge 1]":["B[redacted badge 2]","B007","B12"]}`} {
		if got := string(Apply([]byte(line), 0, rules.Session().Marks([]byte(line)))); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestNoJSON: what only begins like JSON, and lines that are torn or glued, lose their secrets too.
func TestNoJSON(t *testing.T) {
	rules := shipped(t)
	key := secrets["github-pat"]
	for _, text := range []string{
		"[default]\ntoken = %s\n", "[INFO] build\nGITHUB_TOKEN=%s", `{ "unterminated: %s`, `{"type":"user","message":{"role":"user","content":"torn %s`,
		`{"content":"torn{"type":"user","content":"second %s"}}`, "[stray line %s", `{"a":1}{"b":"%s"}`, "{'a': '%s'}",
	} {
		line := []byte(fmt.Sprintf(text, key))
		if shown := string(Apply(line, 0, rules.Session().Marks(line))); strings.Contains(shown, key[4:]) {
			t.Errorf("%s", shown)
		}
	}
}

// TestEscapedLines: in a text of many lines only those with needless escapes are decoded, each of them.
func TestEscapedLines(t *testing.T) {
	rules := shipped(t)
	key := secrets["github-pat"]
	pieces := fmt.Sprintf(`{"a":"\\u00%x%s"}`, key[0], key[1:])
	text := strings.Join([]string{`{"a":"plain1plain1plain1"}`, pieces, "no escape, a1b2c3d4e5f6", pieces, pieces, "end"}, "\n")
	shown := string(Apply([]byte(text), 0, rules.Session().Marks([]byte(text))))
	if strings.Contains(shown, key[4:]) || strings.Count(shown, "[redacted github-pat 1]") != 3 {
		t.Errorf("%s", shown)
	}
}

// TestHostile: work grows with the line, not with its square.
func TestHostile(t *testing.T) {
	rules := shipped(t)
	size := testkit.Cases(t, 64<<10, 2<<20)
	for _, piece := range []string{
		"sk-", "key=", "token=a1b2c3d4e5f6", "://a:b@", "%25", `\`, `\u0041`, "aGVs", strings.Repeat("aGVs", 19) + `\n`, "eyJ", "a.", "s.", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "(\"-", "a,password\n", "chpasswd ", "kind: Secret\ndata:\n", "name: password value: ", "password is ",
		"-----BEGIN PRIVATE KEY-----" + strings.Repeat("aGVsbG8x", 6), "~", "AKIA", "passw", "passw=", "\\/\n", "a1b2c3d4e5f6\\/\nplain1plain1plain1\n", " -u a:", " -p ", "password ", "password\t|", "password=", `password=\"`, "password,", "Cookie: ", "value:", "\x1b\n", secrets["aws-key"] + " ", `"` + secrets["aws-key"] + `",`, "2d2d",
	} {
		line := []byte(`["` + strings.Repeat(piece, size/len(piece)) + `"]`)
		session := rules.Session()
		shown := Apply(line, 0, session.Marks(line))
		if json.Valid(line) && !json.Valid(shown) {
			t.Errorf("%q: no JSON", piece)
		}
	}
}

// TestStream: a stream leaves out what its whole text has, however it is written, and keeps all else.
func TestStream(t *testing.T) {
	rules := shipped(t)
	key := "AKIA" + "Q7MZKXWVUTSRP2N3"
	filler := strings.Repeat("an ordinary line of text\n", 1<<15)
	for _, shift := range testkit.Numbers(t, 40, 3) {
		before := filler + strings.Repeat(".", 1<<20-len(filler)-shift) + " "
		for _, step := range []int{1 << 10, 1 << 22} {
			var out bytes.Buffer
			s := NewStream(rules.Session(), &out)
			text := []byte(before + key + " end\n" + filler)
			for part := range slices.Chunk(text, step) {
				if _, err := s.Write(part); err != nil {
					t.Fatal(err)
				}
			}
			testkit.Must(t, s.Close())
			if want := before + "[redacted aws-key 1] end\n" + filler; out.String() != want {
				t.Fatalf("shift %d, writes of %d: %d bytes, want %d", shift, step, out.Len(), len(want))
			}
		}
	}
}

// TestArgumentsByTheSecondWord: the body of a comment is none, that of a secret is one.
func TestArgumentsByTheSecondWord(t *testing.T) {
	rules := shipped(t)
	for line, want := range map[string]int{
		`gh pr comment 112 --body "Fixed the temporary file"`: 0, `gh secret set NPM_TOKEN --body "letmein-9"`: 1,
		"ldapsearch -x -s subtree -b dc=example": 0, "ldappasswd -x -s Sommer2026 uid=me": 1,
	} {
		if n := len(rules.Session().Marks([]byte(line))); n != want {
			t.Errorf("%s: %d secrets, want %d", line, n, want)
		}
	}
}
