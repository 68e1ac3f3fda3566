#!/usr/bin/env bash
# Plays stories generated from seeds against Tideover, with faults in messages and answers of the
# simulated App Store and Google Play: many more than tests have time for.
#
#   scripts/stories.sh                           200 seeds of both stores
#   scripts/stories.sh --store googlePlay        of one of them
#   scripts/stories.sh --store mixed             of a customer who buys in both
#   scripts/stories.sh --from 201 --seeds 1000   others
#
# A story that differs from the store's state is reported with its seed and the difference.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

TIDEOVER_TRIALS=1 swift build --configuration release --static-swift-stdlib \
    --scratch-path .build/static --product tideover >&2
exec .build/static/release/tideover sandbox stories "$@"
