// Package browser tests the page of `ccd web` in a real browser, Chromium without a screen: how it looks at three widths in
// light and dark, how it is used, and that a hostile session or another site runs nothing in it. It also takes the pictures
// of docs/LOOK.md. The tests run the command as a user would, on invented sessions in a temporary home. Each security test
// has a control: the same attack on a page without the guard succeeds.
//
// The tests need CCD_BROWSER, a directory into which npm installed axe-core, chromium-headless-shell, and the build tag rig;
// the script run sees to all three. A plain `go test` builds none of them.
package browser
