#!/bin/sh
# Builds Tideover and plays its demo; what the build needs and is missing is installed first.
#
#   scripts/demo.sh                              play the year and draw it, then serve it
#   scripts/demo.sh --no-serve                   play it and end
#   scripts/demo.sh --no-serve --html year.html  draw it for a browser too
#
# Arguments go to `tideover demo`; results are on standard output, everything else on standard error.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
# shellcheck source=scripts/require.sh
. "$root/scripts/require.sh"

require_swift
require_packages "$(missing_for_building)"
# A debug build is ready several times sooner than a release one, and the story is short.
say "building tideover (minutes the first time)"
swift build --package-path "$root" --product tideover >&2
exec "$(swift build --package-path "$root" --show-bin-path)/tideover" demo "$@"
