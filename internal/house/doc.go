// Package house tests the rules of the whole source tree: which package may import which, which packages may name an
// agent, what must be documented, and which words ccd does not use.
package house
