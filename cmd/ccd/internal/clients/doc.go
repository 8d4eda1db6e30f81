// Package clients tests ccd with real agents, offline. The tests start Claude Code and Codex with a model that follows a
// script, and check what the agents send. For Gemini CLI, Qwen Code and Pi they check what ccd archives.
//
// A client runs only in a network namespace with nothing but loopback, with a home and environment of the test, and with
// a time limit. The tests know nothing of ccd's code: they run the command as a user would.
//
// The tests need CCD_CLIENTS, a directory into which npm installed the clients, and the build tag rig; `make clients` sets
// both. A plain `go test` builds none of them.
package clients
