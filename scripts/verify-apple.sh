#!/bin/sh
# Checks the data of the simulated App Store with Apple's own library for Python.
#
#   scripts/verify-apple.sh [SEED]    1 by default
#
# Half a year of the store is recorded, in production and in the sandbox: every notification, every
# answer of its Server API, and the data on devices. Apple's verifier must accept every signed
# document, and reject each of them with one bit changed. Apple's client must send the same
# requests, and read every member of the answers into its models. The last line is
# `failures: N, documents: N, answers: N`.
#
# The second part checks `tideover sandbox serve` on loopback: Apple's client makes each of its
# calls, and Apple's verifier must accept the store's notifications and answers. It ends with the
# same line.
#
# The library comes from PyPI into .build/compare. TIDEOVER_BINARY and TIDEOVER_TRIALS_BINARY name
# built programs, otherwise they are built.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
# shellcheck source=scripts/require.sh
. "$root/scripts/require.sh"
# shellcheck source=scripts/apple.sh
. "$root/scripts/apple.sh"

require_packages "$(missing_for_building) $(missing_for_apple)"
cd "$root"
if [ -z "${TIDEOVER_TRIALS_BINARY:-}" ]; then
    TIDEOVER_TRIALS=1 swift build --product TideoverTrials >&2
    TIDEOVER_TRIALS_BINARY=.build/debug/TideoverTrials
fi
if [ -z "${TIDEOVER_BINARY:-}" ]; then
    TIDEOVER_TRIALS=1 swift build --product tideover >&2
    TIDEOVER_BINARY=.build/debug/tideover
fi
require_apple
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$TIDEOVER_TRIALS_BINARY" record "$folder" --seed "${1:-1}"
# shellcheck disable=SC2154 # require_apple sets it
status=0
"$python" -B scripts/verify_apple.py "$folder"/*.json || status=1
"$python" -B scripts/verify_apple_served.py "$TIDEOVER_BINARY" || status=1
exit "$status"
