#!/bin/sh
# Walks simulated clients of RevenueCat's SDKs for iOS and Android through the life of a customer.
#
#   scripts/verify-revenuecat-sdk.sh
#   scripts/verify-revenuecat-sdk.sh --wrong    see that a difference would be found
#
# The clients and their checker are written from a description of the protocol. The stores are those
# of `tideover sandbox serve`, the server is `tideover serve`, both on loopback. At each step the
# conclusion of both SDKs is compared with the server's own answer. The last line is `steps: N,
# checks: N, differences: 0, repeated: N, seconds: N`. See docs/trials.md.
#
# TIDEOVER_BINARY names a built program, otherwise it is built. TIDEOVER_VECTORS names a folder with
# `revenuecat-sdk/`, the results of the real decoders; without it this comparison is skipped.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
# shellcheck source=scripts/require.sh
. "$root/scripts/require.sh"

missing_for_clients_of_revenuecat() {
    command -v python3 >/dev/null || echo python3
    command -v openssl >/dev/null || echo openssl
}

require_packages "$(missing_for_clients_of_revenuecat)"
cd "$root"
vectors=${TIDEOVER_VECTORS:-../shared/vectors}
require_program
python3 -B scripts/revenuecat_union.py --self-test "$vectors/revenuecat-sdk" || [ $? -eq 75 ]
exec python3 -B scripts/verify_revenuecat_sdk.py "$program" "$@"
