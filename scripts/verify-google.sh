#!/bin/sh
# Asks Google's own library for Python whether the simulated Google is one: the tokens of its pushes and the
# keys it publishes for them, its endpoint for access tokens, and its Play Developer API behind that.
#
#   scripts/verify-google.sh
#
# The last line is `held: N of N`. The libraries come from PyPI into .build/verify-google; where they cannot
# be had it says so and ends with 75, which is neither held nor failed. TIDEOVER_TRIALS_BINARY names a built
# program, otherwise one is built.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
# shellcheck source=scripts/require.sh
. "$root/scripts/require.sh"

missing=$(missing_for_building)
command -v python3 >/dev/null || missing="$missing python3"
python3 -c 'import ensurepip' 2>/dev/null || missing="$missing python3-venv"
require_packages "$missing"
cd "$root"
python=.build/verify-google/bin/python
if ! "$python" -c 'import google.auth, jwt, requests' 2>/dev/null; then
    python3 -m venv .build/verify-google
    if ! "$python" -m pip --quiet install 'google-auth==2.62.2' 'requests==2.34.2' 'pyjwt==2.10.1' >&2; then
        echo "skipped: Google's library could not be fetched from PyPI"
        exit 75
    fi
fi
if [ -z "${TIDEOVER_TRIALS_BINARY:-}" ]; then
    TIDEOVER_TRIALS=1 swift build --product TideoverTrials >&2
    TIDEOVER_TRIALS_BINARY=.build/debug/TideoverTrials
fi
exec "$python" scripts/verify_google.py "$TIDEOVER_TRIALS_BINARY"
