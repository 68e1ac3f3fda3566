#!/bin/sh
# Checks the simulated Google with Google's own Python libraries: the tokens of its pushes, the keys
# published for them, the endpoint for access tokens, and the Play Developer API behind it.
#
#   scripts/verify-google.sh
#
# The first part checks a simulated Google that rotates its keys, the second checks
# `tideover sandbox serve` on loopback. Each part ends with the line `held: N of N`. The libraries
# come from PyPI into .build/verify-google. Without them or Python, the script reports it and exits
# with 75.
# TIDEOVER_BINARY and TIDEOVER_TRIALS_BINARY name built programs, otherwise they are built.
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
if ! "$python" -c 'import google.auth, googleapiclient, jwt, requests' 2>/dev/null; then
    python3 -m venv .build/verify-google
    if ! "$python" -m pip --quiet install 'google-auth==2.62.2' 'google-api-python-client==2.202.0' \
        'requests==2.34.2' 'pyjwt==2.10.1' >&2; then
        echo "skipped: Google's libraries could not be fetched from PyPI"
        exit 75
    fi
fi
if [ -z "${TIDEOVER_TRIALS_BINARY:-}" ]; then
    require_packages "$(missing_for_building)"
    TIDEOVER_TRIALS=1 swift build --product TideoverTrials >&2
    TIDEOVER_TRIALS_BINARY=.build/debug/TideoverTrials
fi
if [ -z "${TIDEOVER_BINARY:-}" ]; then
    require_packages "$(missing_for_building)"
    TIDEOVER_TRIALS=1 swift build --product tideover >&2
    TIDEOVER_BINARY=.build/debug/tideover
fi
status=0
"$python" -B scripts/verify_google.py "$TIDEOVER_TRIALS_BINARY" || status=1
"$python" -B scripts/verify_google_served.py "$TIDEOVER_BINARY" || status=1
exit "$status"
