package packaging

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"runtime"
	"testing"
)

func TestRun(t *testing.T) {
	want := errors.New("the loop's own")
	if err := Run(t.Context(), func(context.Context) error { return want }); !errors.Is(err, want) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err := Run(ctx, func(ctx context.Context) error {
		cancel()
		<-ctx.Done()
		return ctx.Err()
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestManaged is the way through the service library, which Run takes only where a service manager is the parent.
func TestManaged(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a Windows service runs only under its manager")
	}
	want := errors.New("the loop's own")
	if err := managed(t.Context(), func(context.Context) error { return want }); !errors.Is(err, want) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err := managed(ctx, func(ctx context.Context) error {
		cancel()
		<-ctx.Done()
		return nil
	})
	if err != nil {
		t.Errorf("got %v", err)
	}
}

func TestNotify(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no datagram sockets of this kind")
	}
	t.Setenv("NOTIFY_SOCKET", "")
	if err := Notify("READY=1"); err != nil {
		t.Errorf("without a manager: %v", err)
	}
	addr := filepath.Join(t.TempDir(), "notify")
	listen := []string{addr}
	if runtime.GOOS == "linux" {
		listen = append(listen, "@ccd-notify-test-"+filepath.Base(filepath.Dir(addr)))
	}
	for _, name := range listen {
		conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		t.Setenv("NOTIFY_SOCKET", name)
		if err := Notify("READY=1\nSTATUS=watching"); err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 100)
		n, err := conn.Read(b)
		if err != nil || string(b[:n]) != "READY=1\nSTATUS=watching" {
			t.Errorf("%s: %q, %v", name, b[:n], err)
		}
	}
	t.Setenv("NOTIFY_SOCKET", addr+".gone")
	if err := Notify("READY=1"); err == nil {
		t.Error("a dead manager was not told")
	}
}
