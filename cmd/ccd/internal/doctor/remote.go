package doctor

import (
	"cmp"
	"path/filepath"
	"time"

	"ccd/internal/mark"
	"ccd/internal/remote/pulled"
	"ccd/internal/words"
)

// latePush is the age of the last push above which nothing seems to push regularly.
const latePush = time.Hour

// remote reports on the copy in object storage. It makes no request.
func (l Facts) remote() (all []Finding) {
	const check = "remote"
	dir := filepath.Join(l.StateDir, pulled.Dir)
	s, err := pulled.ReadSettings(dir)
	switch {
	case err != nil:
		return []Finding{wrong(check, "ccd remote remove, then ccd remote add", "%v", err)}
	case s.URL == "":
		return nil
	case len(s.Recipients) == 0:
		all = append(all, wrong(check, "ccd remote add "+s.URL+" --recipient KEY", "there are no recipients: nothing can be pushed"))
	}
	if _, err := l.Env.FindRemote(); err != nil {
		return append(all, wrong(check, words.HintOf(err), "%v", err))
	}
	p, err := pulled.ReadPush(dir)
	age := l.Now.Sub(p.Pushed)
	behind := words.Count(p.Behind.Sessions, "session") + " behind"
	state := note
	if stale(p, l.Now) {
		state = wrong
	}
	const again = "let cron run ccd remote push -q every 5 minutes (docs/REMOTE.md)"
	switch {
	case err != nil:
		all = append(all, wrong(check, "ccd remote push writes it again", "%v", err))
	case p.Error != "":
		fix := cmp.Or(p.Hint, "ccd remote push shows whether it still fails")
		last := "the first push"
		if !p.Pushed.IsZero() {
			last = "last push " + words.Short(age) + " ago; the one " + words.Age(p.Tried) + " ago"
		}
		all = append(all, state(check, fix, "%s failed, %s: %s", last, behind, mark.Inline(p.Error, 300)))
	case p.Pushed.IsZero():
		all = append(all, note(check, "ccd remote push", "nothing was pushed to %s yet", s.URL))
	case p.Damaged > 0:
		all = append(all, note(check, "ccd doctor --fix", "%s could not be read and was not pushed to %s", words.Count(p.Damaged, "session"), s.URL))
	case age > latePush:
		all = append(all, note(check, again, "last push %s ago, to %s", words.Short(age), s.URL))
	}
	if len(all) == 0 {
		all = append(all, ok(check, "pushed to %s %s ago, for %s", s.URL, words.Short(age), words.Count(len(s.Recipients), "recipient")))
	}
	return all
}
