#!/usr/bin/env bash
# Checks the laws of the core on generated subscriptions: many more than tests have time for.
#
#   scripts/laws.sh                                  6,700 seeds of three lives, in ten orders each
#   scripts/laws.sh --from 6701 --seeds 100000       others
#   scripts/laws.sh convergence --from 77 --seeds 1  one life, one law
#
# A violation is reported with the fewest facts that cause it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# With the flags of the trials, which share the compiled modules.
TIDEOVER_TRIALS=1 swift build --configuration release --static-swift-stdlib \
    --scratch-path .build/static --product TideoverLaws >&2
exec .build/static/release/TideoverLaws try "$@"
