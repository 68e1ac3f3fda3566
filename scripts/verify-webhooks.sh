#!/bin/sh
# Tries the webhooks of the server with the library `standardwebhooks` and a receiver of its own.
#
#   scripts/verify-webhooks.sh [--short] [--seed N] [PART...]
#   scripts/verify-webhooks.sh kills --wrong    see that a loss would be found
#
# The receiver is written only from the specification, and everything stays on loopback. The parts:
#
#   messages    signatures, rotation, replay, test messages, 410, Retry-After, redirects
#   kills       the server gets SIGKILL in the middle of deliveries; no event may be lost
#   delays      silent, slow and 1,000 dead receivers may not delay another
#   guard       no spelling of a private address may be reached; needs a network namespace
#
# The last line is `failures: N, messages: N`. See docs/trials.md.
#
# The library comes from PyPI into .build/compare. TIDEOVER_BINARY names a built program, otherwise
# it is built. If PyPI cannot be reached, it exits with 75.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
# shellcheck source=scripts/require.sh
. "$root/scripts/require.sh"

missing_for_webhooks() {
    command -v python3 >/dev/null || echo python3
    python3 -c 'import ensurepip' 2>/dev/null || echo python3-venv
    command -v unshare >/dev/null || echo util-linux
    command -v ip >/dev/null || echo iproute2
}

require_webhooks() {
    python=.build/compare/bin/python
    "$python" -c 'import standardwebhooks, cryptography' 2>/dev/null && return 0
    python3 -m venv .build/compare
    if ! "$python" -m pip --quiet install 'standardwebhooks==1.1.0' cryptography >&2; then
        echo "skipped: the library standardwebhooks could not be fetched from PyPI"
        exit 75
    fi
}

require_packages "$(missing_for_webhooks)"
cd "$root"
require_program
require_webhooks
exec "$python" -B scripts/verify_webhooks.py "$program" "$@"
