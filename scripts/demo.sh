#!/bin/sh
# Builds Tideover and plays its demo, after installing missing packages.
#
#   scripts/demo.sh                              play the year and draw it, then serve it
#   scripts/demo.sh --no-serve                   play it and end
#   scripts/demo.sh --no-serve --html year.html  also draw it for a browser
#
# Arguments go to `tideover demo`. Results are on standard output, all else on standard error.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
# shellcheck source=scripts/require.sh
. "$root/scripts/require.sh"

require_swift
require_packages "$(missing_for_building)"
# A debug build is several times faster than a release build, and the story is short.
say "building tideover (minutes the first time)"
swift build --package-path "$root" --product tideover >&2
exec "$(swift build --package-path "$root" --show-bin-path)/tideover" demo "$@"
