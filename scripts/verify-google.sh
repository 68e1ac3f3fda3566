#!/bin/sh
# Asks Google's own library for Python whether the simulated Google is one: the tokens of its pushes and the
# keys it publishes for them, its endpoint for access tokens, and its Play Developer API behind that.
#
#   scripts/verify-google.sh
#
# The last line is `held: N of N`. The libraries come from PyPI into .build/verify-google; where they, or Python
# itself, cannot be had it says so and ends with 75, which is neither held nor failed. TIDEOVER_TRIALS_BINARY
# names a built program, otherwise one is built.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
# shellcheck source=scripts/require.sh
. "$root/scripts/require.sh"

cd "$root"
if ! python3 -c 'import ensurepip' 2>/dev/null; then
    echo "skipped: python3 with python3-venv is not installed"
    exit 75
fi
python=.build/verify-google/bin/python
if ! "$python" -c 'import google.auth, jwt, requests' 2>/dev/null; then
    python3 -m venv .build/verify-google
    if ! "$python" -m pip --quiet install 'google-auth==2.62.2' 'requests==2.34.2' 'pyjwt==2.10.1' >&2; then
        echo "skipped: Google's library could not be fetched from PyPI"
        exit 75
    fi
fi
if [ -z "${TIDEOVER_TRIALS_BINARY:-}" ]; then
    require_packages "$(missing_for_building)"
    TIDEOVER_TRIALS=1 swift build --product TideoverTrials >&2
    TIDEOVER_TRIALS_BINARY=.build/debug/TideoverTrials
fi
exec "$python" scripts/verify_google.py "$TIDEOVER_TRIALS_BINARY"
