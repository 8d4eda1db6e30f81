//go:build rig

package clients

// watched checks what a person sees of a session while its client is at work and after it compacted: ccd ls and
// ccd diff know the same compactions, and ccd adds something to the second.
func (p *place) watched(a agent, id string) {
	p.t.Helper()
	p.ccd("run", "--once")
	var rows []struct {
		Session     string
		Compactions int
	}
	p.decode(&rows, "ls", "--json")
	compactions := 0
	for _, r := range rows {
		if r.Session == id {
			compactions = r.Compactions
		}
	}
	if compactions != 2 {
		p.t.Errorf("ccd ls knows %d compactions of %s, want 2", compactions, a.title)
	}
	var report struct {
		Boundaries, Chars, Dropped int
		Added                      int `json:"handed_over"`
	}
	p.decode(&report, "diff", id, "--boundary", "2", "--json")
	if report.Boundaries != compactions || report.Chars == 0 || report.Dropped == 0 || report.Added == 0 {
		p.t.Errorf("ccd diff: %+v, want %d compactions, a summary, and facts that ccd adds", report, compactions)
	}
}
