package main

import "ccd/archive"

// handleCtrlZ does nothing: Windows has no Ctrl-Z signal.
func handleCtrlZ(*archive.Brake) {}
