#!/bin/sh
# Checks the whole project, after installing missing packages.
#
#   scripts/test.sh           format, build without warnings, tests
#   scripts/test.sh --full    also scripts, PostgreSQL, sanitizers, release build
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
# shellcheck source=scripts/require.sh
. "$root/scripts/require.sh"

case $# in
0) level=fast ;;
*) level=$1 ;;
esac
if [ $# -gt 1 ] || { [ "$level" != fast ] && [ "$level" != --full ]; }; then
    say "usage: scripts/test.sh [--full]"
    exit 2
fi
require_swift
missing="$(missing_for_building) $(missing_for_tests)"
if [ "$level" = --full ]; then
    level=full
    missing="$missing $(missing_for_full_check)"
fi
require_packages "$missing"
exec "$root/scripts/ci.sh" "$level"
