//go:build rig

package clients

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"strings"
)

// watched checks what a person sees of a session while its client is at work and after it compacted: ccd top and the page of
// the compaction know the same compactions, and the page has what the session was told.
func (p *place) watched(a agent, id, told string) {
	p.t.Helper()
	p.ccd("run", "--once")
	var rows []struct {
		Agent, Session string
		Compactions    int
	}
	p.decode(&rows, "top", "--once", "--json")
	compactions, agent := 0, ""
	for _, r := range rows {
		if r.Session == id {
			compactions, agent = r.Compactions, r.Agent
		}
	}
	if compactions != 2 {
		p.t.Errorf("ccd top knows %d compactions of %s, want 2", compactions, a.title)
	}
	cmd := exec.CommandContext(p.t.Context(), p.ccdPath(), "web", "--no-open")
	cmd.Dir, cmd.Env = p.project, p.env()
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait() // it exits 130
	}()
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		p.t.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		p.t.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	get := func(to string, v any) {
		p.t.Helper()
		r, err := client.Get(to)
		if err != nil {
			p.t.Fatal(err)
		}
		defer r.Body.Close()
		if v != nil {
			if err := json.NewDecoder(r.Body).Decode(v); err != nil {
				p.t.Fatalf("%s: %s: %v", to, r.Status, err)
			}
		}
	}
	address = strings.TrimSpace(address)
	get(address, nil)
	u, err := url.Parse(address)
	if err != nil {
		p.t.Fatal(err)
	}
	u.Path, u.RawQuery = "/s/"+agent+"/"+id+"/compactions/2", "format=json"
	var page struct {
		Boundaries, Dropped int
		Own                 string `json:"own_summary"`
		Told                string
		Ledger              []struct{ ID string }
	}
	get(u.String(), &page)
	if page.Boundaries != compactions || page.Dropped == 0 || len(page.Ledger) != page.Dropped || page.Own == "" || !strings.Contains(page.Told, "## Handover") {
		p.t.Errorf("the page has %d compactions, %d dropped, a ledger of %d, a summary of %d chars; it tells %.200q", page.Boundaries, page.Dropped,
			len(page.Ledger), len(page.Own), page.Told)
	}
	asked, _, _ := strings.Cut(told[max(0, strings.Index(told, "## Handover")):], "\n")
	if !strings.Contains(page.Told, asked) {
		p.t.Errorf("the page tells other than what the client was told: %q", asked)
	}
}
