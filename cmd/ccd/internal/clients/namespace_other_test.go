//go:build rig && !linux

package clients

import "errors"

const alone = "CCD_CLIENTS_ALONE"

func isolate() (int, string) { return 0, "network namespaces are Linux's" }

func onlyLoopback() error { return errors.ErrUnsupported }
