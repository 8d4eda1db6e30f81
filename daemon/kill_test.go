package daemon

import (
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ccd/compactor/companion"
	"ccd/internal/mark"
	"ccd/internal/testkit"
)

// victim, in the environment, makes the test binary a daemon in that HOME, to be killed.
const victim = "CCD_TEST_VICTIM"

// modelled has the victim write summaries, too.
const modelled = "CCD_TEST_MODELLED"

func TestMain(m *testing.M) {
	testkit.InMemory() // what a process that is killed has written stays
	if home := os.Getenv(victim); home != "" {
		beVictim(home)
	}
	os.Exit(m.Run())
}

func beVictim(home string) {
	t := &testing.T{}
	h := houseIn(t, home)
	if os.Getenv(modelled) != "" {
		h.furnish(&model{})
	}
	_ = h.daemon().Run(context.Background())
	os.Exit(1)
}

// Killed at random moments, while two workers sync old transcripts and one grows, and started again: the same companions
// as of an undisturbed run, the same bytes back, every ID that was ever published still resolves.
func TestKilledAtAnyMoment(t *testing.T) {
	rounds := testkit.Cases(t, 4, 50)
	h := newHouse(t)
	rng := rand.New(rand.NewPCG(1, 2))
	published := map[mark.ID]bool{}
	texts := map[string]string{}
	n, before, partly := 0, 0, 0                                                     // companions before the round, rounds that ended in the middle of a catch-up
	for ; n < rounds || (len(published) == 0 || partly == 0) && n < 10*rounds; n++ { // a slow machine may need more rounds
		for i := range 6 {
			path := h.path(100 + 6*n + i)
			texts[path] = turns(i, i+8+n%5)
			h.old(path, texts[path])
		}
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), victim+"="+h.home)
		testkit.Must(t, cmd.Start())
		t.Cleanup(func() { _ = cmd.Process.Kill() })
		moment := rng.IntN(180)
		if n%2 == 0 { // in the middle of the catch-up, else at once
			testkit.Eventually(t, "a companion", func() bool { return len(h.companions()) > before })
			moment = rng.IntN(20)
		}
		kill := time.After(time.Duration(moment) * time.Millisecond)
		text := turns(2*n, 2*n+2)
		for half := range 2 {
			h.append(h.path(1), text[half*len(text)/2:(half+1)*len(text)/2])
			if half == 0 {
				<-time.After(time.Duration(rng.IntN(moment/3+1)) * time.Millisecond) // a moment by chance
			}
		}
		<-kill
		testkit.Must(t, cmd.Process.Kill())
		_ = cmd.Wait()
		made := h.companions()
		if len(made) > before && len(made) < len(texts) {
			partly++
		}
		before = len(made)
		for _, path := range made {
			b := testkit.Read(t, path)
			if _, err := companion.Parse(b); err != nil {
				t.Fatalf("round %d: %v", n, err)
			}
			for _, id := range mark.IDs(string(b)) {
				published[id] = true
			}
		}
	}
	h.once()
	h.compactAll()
	texts[h.path(1)] = turns(0, 2*n)
	if got := h.hasAll(texts); got != len(texts) {
		t.Errorf("%d of %d sessions come back unchanged", got, len(texts))
	}
	if len(published) == 0 {
		t.Error("no companion has an ID: this test cannot fail")
	}
	for id := range published {
		if err := h.lookup(id); err != nil {
			t.Errorf("ID %s, once published: %v", id, err)
		}
	}
	quiet := newHouse(t)
	for path, text := range texts {
		quiet.write(filepath.Join(filepath.Dir(quiet.path(1)), filepath.Base(path)), text)
	}
	quiet.once()
	quiet.compactAll()
	for path := range texts {
		if a, b := quiet.companion(filepath.Join(filepath.Dir(quiet.path(1)), filepath.Base(path))), h.companion(path); a != b {
			t.Errorf("%s: the companion differs from an undisturbed run's:\n%s", path, firstDifference(a, b))
		}
	}
	report, err := h.o.Archive.Verify(context.Background(), func(int64, int64) {})
	if err != nil || len(report.Damage) > 0 {
		t.Errorf("verify: %v, damage %v", err, report.Damage)
	}
	if t.Logf("%d kills, %d in the middle of a catch-up, %d IDs published, none lost", n, partly, len(published)); len(published) == 0 || partly == 0 {
		t.Error("no companion was seen in any round, or none but all: this test cannot fail")
	}
}

// companions returns the paths of the companions of main sessions.
func (h *house) companions() []string {
	h.t.Helper()
	made, err := filepath.Glob(filepath.Join(filepath.Dir(h.path(1)), "*"+companion.Suffix))
	testkit.Must(h.t, err)
	return made
}

// A reader in a loop sees the old companion or the new one, never a part of one, and never none once there was one.
func TestReaderNeverSeesATornCompanion(t *testing.T) {
	h := newHouse(t)
	h.write(h.path(1), turns(0, 12))
	h.once()
	companion := strings.TrimSuffix(h.path(1), ".jsonl") + companion.Suffix
	done := make(chan int)
	stop := make(chan struct{})
	go func() {
		reads := 0
		for {
			select {
			case <-stop:
				done <- reads
				return
			default:
			}
			if err := whole(companion); err != nil {
				t.Error(err)
			}
			reads++
		}
	}()
	versions := testkit.Cases(t, 5, 18)
	for n := range versions {
		h.append(h.path(1), turn(12+n))
		h.once()
	}
	close(stop)
	if reads := <-done; reads < versions {
		t.Errorf("only %d reads: this test cannot fail", reads)
	}
	torn := filepath.Join(t.TempDir(), "torn.ccd.md") // control
	h.write(torn, h.companion(h.path(1))[:900])
	if whole(torn) == nil {
		t.Error("half a companion passes for a whole one: this test cannot fail")
	}
}

// whole fails where path is not a companion with all the sections that its front matter names.
func whole(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	p, err := companion.Parse(b)
	if err != nil {
		return err
	}
	return p.Check()
}
