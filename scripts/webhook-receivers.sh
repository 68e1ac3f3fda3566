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
require_program
require_packages "$(missing_for_webhook_receivers)"
exec timeout 600 python3 -B scripts/webhook_receivers.py "$program"
