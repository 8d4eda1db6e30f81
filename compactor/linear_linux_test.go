package compactor_test

import (
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ccd/compactor"
	"ccd/internal/agent/registry"
)

// threadTime returns the processor time of this thread, which other programs do not change.
func threadTime() time.Duration {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now)
	return time.Duration(now.Nano())
}

// shapes are sessions that repeat an event: the event, in which # stands for its number, and how often.
var shapes = map[string]int{
	"human go on": 20_000, "edit f#.go => ok": 4_500, "last step #": 4_000, "$ make test# => exit 1: x.go:1: error: y": 4_000, "$ make t# => no: never #": 4_000,
	"human commit #|$ git commit -m x => [main 1a2b0#] x": 4_000,
}

// TestWorkIsLinear: four times as many things take less than eight times the work.
func TestWorkIsLinear(t *testing.T) {
	for shape, n := range shapes {
		took := func(n int) time.Duration {
			s := claude("human " + task)
			for i := range n {
				s.tell(strings.Split(strings.ReplaceAll(shape, "#", strconv.Itoa(i)), "|")...)
			}
			data := s.data()
			runtime.GC()
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			begun := threadTime()
			compact(t, model(registry.Table{}, compactor.Defaults(), s), data, compactor.Audience{Room: 9000})
			return threadTime() - begun
		}
		small, large := took(n/4), took(n)
		if t.Logf("%s: %v for %d, %v for %d", shape, small, n/4, large, n); large > 8*small && took(n) > 8*took(n/4) {
			t.Errorf("%s: the work is not linear", shape)
		}
	}
}
