package account

import "testing"

func TestMachineAccount(t *testing.T) {
	for _, c := range []struct{ installed, named, want string }{{"alice", "", "alice"}, {"", "bob", "bob"}, {"alice", "alice", "alice"}, {"", "", ""}} {
		if got, err := machineAccount(c.installed, c.named); err != nil || got != c.want {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}
	if got, err := machineAccount("alice", "bob"); err == nil || got != "" {
		t.Errorf("bob's is asked for and alice's installed: %q", got)
	}
}
