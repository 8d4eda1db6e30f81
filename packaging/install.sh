#!/bin/sh
# Installs ccd and ccd-remote from a release into ~/.local/bin, without root, Go or a package manager.
#
#   sh install.sh [BASE]   BASE is the directory or the URL that has the tarballs and SHA256SUMS; the script's own directory if not given
#   PREFIX=/usr/local      installs into /usr/local/bin
#
# A tarball whose SHA-256 is not the one in SHA256SUMS is not installed. That proves that it is whole, not who made it.
set -eu

fail() {
	printf 'install.sh: %s\n' "$*" >&2
	exit 1
}

base=${1:-$(dirname "$0")}
bin=${PREFIX:-$HOME/.local}/bin

case $(uname -s) in
Linux) os=linux ;;
Darwin) os=darwin ;;
*) fail "no program is made for $(uname -s); on Windows, unpack the zip" ;;
esac
case $(uname -m) in
x86_64 | amd64) arch=amd64 ;;
aarch64 | arm64) arch=arm64 ;;
*) fail "no program is made for $(uname -m)" ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM

get() { # NAME: from BASE into $work
	case $base in
	*://*)
		if command -v curl >/dev/null; then
			curl -fsSL -o "$work/$1" "${base%/}/$1"
		else
			wget -qO "$work/$1" "${base%/}/$1"
		fi
		;;
	*) cp "$base/$1" "$work/$1" ;;
	esac || fail "cannot get $1 from $base"
}

sha256() { if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi; }

get SHA256SUMS
line=$(grep "_${os}_$arch\\.tar\\.gz\$" "$work/SHA256SUMS") || fail "no tarball for $os/$arch in SHA256SUMS"
name=${line##* }
case $line in
*/* | *'
'*) fail "SHA256SUMS does not name one tarball for $os/$arch" ;;
esac
get "$name"
sum=$(sha256 "$work/$name")
[ "${sum%% *}" = "${line%% *}" ] || fail "$name: its SHA-256 is not that of SHA256SUMS; nothing was installed"

tar -xzf "$work/$name" -C "$work"
mkdir -p "$bin"
for program in ccd ccd-remote; do # by rename, so that one that runs can be replaced
	cp "$work/${name%.tar.gz}/$program" "$bin/.$program.new"
	chmod 755 "$bin/.$program.new"
	mv -f "$bin/.$program.new" "$bin/$program"
done
printf 'installed in %s: %s\n' "$bin" "$("$bin/ccd" version)"
case :$PATH: in
*:"$bin":*) echo 'next: ccd setup' ;;
*) echo "add $bin to your PATH; next: $bin/ccd setup" ;;
esac
