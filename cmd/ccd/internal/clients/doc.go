// Package clients is the proof with the real agents: its tests start the real Claude Code and the real Codex, offline,
// against a model of our own that follows a script, and look at what the agents sent. Of the real Gemini CLI and the real
// Pi, which ccd only reads, they look at what is followed and kept.
//
// It owns the scripted model, the isolation and the cases. Its invariant: a client never starts outside a network
// namespace that has nothing but loopback, never with a home or an environment that a person uses, and never without a
// time limit. It knows nothing of how ccd works: it runs the command, as a user would.
//
// The cases run where CCD_CLIENTS names a directory into which npm installed the clients (`make clients` does that and
// starts them); in a plain `go test` they skip, and TestStory walks the same way without any client.
package clients
