package config

import (
	"strings"
	"testing"
)

// TestPut: the key is set, and nothing else of the file changes.
func TestPut(t *testing.T) {
	for name, c := range map[string]struct{ text, reach, want string }{
		"no file":         {"", ReachAll, "[agents]\nreach = \"all\"\n"},
		"default":         {"# mine\n", ReachProject, "# mine\n"},
		"other sections":  {"[log]\nlevel = \"info\"", ReachAll, "[log]\nlevel = \"info\"\n\n[agents]\nreach = \"all\"\n"},
		"there already":   {"[agents]\nreach = 'all' # ok\n", ReachAll, "[agents]\nreach = 'all' # ok\n"},
		"back":            {"[agents]\n  reach = 'all' # ok\n[log]\n", ReachProject, "[agents]\nreach = \"project\" # ok\n[log]\n"},
		"section alone":   {"[ agents ] # mine\n[log]\n", ReachAll, "[ agents ] # mine\nreach = \"all\"\n[log]\n"},
		"ends with it":    {"[agents]", ReachAll, "[agents]\nreach = \"all\"\n"},
		"carriage return": {"[agents]\r\nreach = \"project\"\r\n", ReachAll, "[agents]\r\nreach = \"all\"\r\n"},
		"the example":     {Example(), ReachAll, strings.Replace(Example(), `reach = "project"`, `reach = "all"`, 1)},
	} {
		if got, err := Put(c.text, c.reach); err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, c.want)
		}
	}
	for name, text := range map[string]string{
		"dotted": "agents.reach = \"project\"\n", "inline": "agents = {reach = \"project\"}\n", "broken": "[agents\n", "unknown": "[agents]\nraech = 1\n",
		"in a string": "[companion]\nhost = '''\n[agents]\n'''\n",
	} {
		if got, err := Put(text, ReachAll); err == nil {
			t.Errorf("%s: %q, want an error", name, got)
		}
	}
}
