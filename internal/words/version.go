package words

import "runtime/debug"

// Version returns the version of this program: that of a release or, if release is "", the one in the build's information.
func Version(release string) string {
	if info, ok := debug.ReadBuildInfo(); ok && release == "" {
		return info.Main.Version
	}
	return release
}
