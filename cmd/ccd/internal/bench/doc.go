// Package bench measures ccd against zstd, and `ccd search` against a scan of the files. docs/PERFORMANCE.md has the figures. It contains tests
// only, with the build tag rig.
package bench
