package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	docLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	fenced  = regexp.MustCompile("(?ms)^(```+).*?^```+$")
)

// anchors returns the fragments of a page's headings.
func anchors(page string) []string {
	var all []string
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(page, ""), -1) {
		plain := regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(strings.ToLower(m[1]), "")
		all = append(all, strings.ReplaceAll(plain, " ", "-"))
	}
	return all
}

// TestDocLinks checks that every link from one page to another finds its file and its heading.
func TestDocLinks(t *testing.T) {
	pages, _ := filepath.Glob("../../*.md")
	for _, pattern := range []string{"../../docs/*.md", "../../docs/*/*.md"} {
		more, _ := filepath.Glob(pattern)
		pages = append(pages, more...)
	}
	seen := 0
	for _, page := range pages {
		text := read(t, page)
		for _, m := range docLink.FindAllStringSubmatch(fenced.ReplaceAllString(string(text), ""), -1) {
			path, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(path, "://") {
				continue
			}
			seen++
			target := page
			if path != "" {
				target = filepath.Join(filepath.Dir(page), filepath.FromSlash(path))
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %s: %v", page, m[1], err)
				continue
			}
			if anchor == "" {
				continue
			}
			if to, err := os.ReadFile(target); err != nil || !slices.Contains(anchors(string(to)), anchor) {
				t.Errorf("%s: %s: no heading %q (%v)", page, m[1], anchor, err)
			}
		}
	}
	if seen < 20 {
		t.Errorf("%d links seen", seen)
	}
	if got := anchors("# One\n## `ccd ls`: two, 3\n```\n# none\n```\n"); !slices.Equal(got, []string{"one", "ccd-ls-two-3"}) {
		t.Errorf("anchors: %q", got)
	}
}
