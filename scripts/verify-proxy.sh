#!/bin/sh
# Runs the nginx example of docs/switching.md and checks what RevenueCat's SDKs need of it.
#
#   scripts/verify-proxy.sh
#
# The proxy must lead to the port for SDKs alone, and answer 503 with a JSON body without a server
# behind it. It must pass bodies of 2 MiB and headers with underscores and bytes outside ASCII, and
# answer 503 to a longer body. Only the addresses and the TLS settings of the example are replaced.
# See docs/switching.md.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
# shellcheck source=scripts/require.sh
. "$root/scripts/require.sh"

require_packages "$(missing_for_proxy)"
cd "$root"
exec python3 -B scripts/verify_proxy.py docs/switching.md
