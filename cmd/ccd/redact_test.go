package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// awsKey is a secret for tests. It is put together here, so that no scanner of this repository reports it.
func awsKey(seed string) string { return "AKIA" + (seed + "Q3ZT7WXC5MNB2RDL")[:16] }

// TestRulesAreOptions: companions of different rules have different options, so a change of rules rewrites them.
func TestRulesAreOptions(t *testing.T) {
	secret := awsKey("")
	home := t.TempDir()
	env := []string{"HOME=" + home, "USERPROFILE=" + home}
	put(t, transcriptPath(home, 1), string(line("user", "the key is "+secret, 0)))
	seen := map[string]string{}
	for _, c := range []struct{ name, env string }{
		{"default", ""}, {"off", "CCD_REDACT_SECRETS=false"}, {"allowed", "CCD_REDACT_ALLOW=^" + secret + "$"}, {"other", "CCD_REDACT_ALLOW=x"},
	} {
		out, code := inProcess(t, append(env, c.env), "compact", "--no-archive", transcriptPath(home, 1))
		if code != 0 {
			t.Fatalf("%s: exit %d", c.name, code)
		}
		_, rest, _ := strings.Cut(string(out), "\noptions: ")
		options, _, _ := strings.Cut(rest, "\n")
		if other, ok := seen[options]; ok || options == "" {
			t.Errorf("%s: the options are %q, as with %s", c.name, options, other)
		}
		seen[options] = c.name
		shown := c.name == "off" || c.name == "allowed"
		if strings.Contains(string(out), secret) != shown || strings.Contains(string(out), "[redacted aws-key 1]") == shown {
			t.Errorf("%s: shows the secret: %v", c.name, !shown)
		}
	}
}

// shownToAgent returns what `ccd agent restore` prints of outputs, each as one record.
func shownToAgent(t *testing.T, raw bool, outputs ...any) (shown []string) {
	t.Helper()
	env := agentHome(t, outputs...)
	for i := range outputs {
		args := []string{"agent", "restore", fmt.Sprintf("beefcafe#%d", 2*i+3)}
		if raw {
			args = append(args, "--raw")
		}
		out, code := inProcess(t, env, args...)
		if code != 0 {
			t.Fatalf("%v: exit %d", args, code)
		}
		shown = append(shown, string(out))
	}
	return shown
}

// TestMarksCutNoEscape: a record without its secrets is JSON, and so is the JSON in its strings.
func TestMarksCutNoEscape(t *testing.T) {
	var outputs []any
	all := 0
	for _, escape := range []string{"\t", "\n", "ä", "\"", "\\", "\u2028", "<", "\x1b[1m", "é", "😀", "\x00", "&", "'"} {
		var texts []any
		for _, form := range []string{"DB_PASSWORD=%s", "password: %s", "{\"password\": \"%s\"}", "token='%s'", "Cookie: sid=%s; a=b", "curl -u bob:%s x", "postgres://a:%s@h/"} {
			for _, value := range []string{escape + "kV9wq27LmZx4Rt", "kV9wq27" + escape + "LmZx4Rt", "kV9wq27LmZx4Rt" + escape} {
				text := fmt.Sprintf(form, value)
				once, _ := json.Marshal(map[string]any{"text": text})
				twice, _ := json.Marshal(map[string]any{"text": string(once)})
				for _, one := range []string{text, string(once), string(twice)} {
					texts = append(texts, map[string]any{"type": "text", "text": one})
					all++
				}
			}
		}
		outputs = append(outputs, texts)
	}
	hidden := 0
	for i, shown := range shownToAgent(t, true, outputs...) {
		var record struct {
			Message struct {
				Content []struct{ Content []struct{ Text string } }
			}
		}
		if err := json.Unmarshal([]byte(shown), &record); err != nil || len(record.Message.Content) != 1 {
			t.Errorf("record %d: %v: %s", i, err, shown)
			continue
		}
		for n, block := range record.Message.Content[0].Content {
			if n%3 > 0 && !json.Valid([]byte(block.Text)) {
				t.Errorf("no JSON: %s", block.Text)
			}
		}
		hidden += strings.Count(shown, "[redacted ")
	}
	if hidden*4 < all*3 {
		t.Errorf("%d of %d texts have a mark", hidden, all)
	}
}
