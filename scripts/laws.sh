#!/usr/bin/env bash
# Holds generated lives of subscriptions to the laws of the core: many more than tests have time for.
#
#   scripts/laws.sh                                  6,700 seeds of three lives, in ten orders each
#   scripts/laws.sh --from 6701 --seeds 100000       others
#   scripts/laws.sh convergence --from 77 --seeds 1  one life, one law
#
# Only the core is built. A life that breaks a law is told with the fewest facts that break it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# As the trials are built, which share what is compiled.
TIDEOVER_TRIALS=1 swift build --configuration release --static-swift-stdlib \
    --scratch-path .build/static --product TideoverLaws >&2
exec .build/static/release/TideoverLaws try "$@"
