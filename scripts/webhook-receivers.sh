#!/bin/sh
# Checks the receivers of docs/webhooks.md in Node, Python, Go and PHP.
#
#   scripts/webhook-receivers.sh
#
# Extracts each program from the page, builds it where its language needs that, and runs it on
# loopback. A Tideover server delivers events to it, which it must accept. It must reject the same
# delivery with a changed body, with an old or future timestamp, and signed with another secret,
# and must not run without a secret. The last line is `failures: N, receivers: N, checks: N`.
#
# TIDEOVER_BINARY names a built program, otherwise it is built.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
# shellcheck source=scripts/require.sh
. "$root/scripts/require.sh"

cd "$root"
if [ -z "${TIDEOVER_BINARY:-}" ]; then
    require_packages "$(missing_for_building)"
    swift build --product tideover >&2
    TIDEOVER_BINARY=.build/debug/tideover
fi
require_packages "$(missing_for_webhook_receivers)"
program=$(readlink -f "$TIDEOVER_BINARY")
unset TIDEOVER_BINARY # the program reads TIDEOVER_* as settings
exec timeout 600 python3 -B scripts/webhook_receivers.py "$program"
