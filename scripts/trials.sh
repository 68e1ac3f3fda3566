# shellcheck shell=bash
# What the trials need, for the scripts that make them. Read with `.`, not run.
#
#   server   the program that is tried: $TIDEOVER_BINARY, else a release build
#   trials   the program that tries it, built the same way
#
# Nothing is built when both are given, by TIDEOVER_BINARY and TIDEOVER_TRIALS_BINARY.

# What trials write are keys too, and the server refuses those that others may open.
umask 077

# A release build of one product. Both have the same modules, which are compiled once: but only where
# the manifest is the same, hence the variable.
trial_build() {
    TIDEOVER_TRIALS=1 swift build --configuration release --static-swift-stdlib \
        --scratch-path .build/static --product "$1" >&2
}

if [ -z "${TIDEOVER_BINARY:-}" ]; then trial_build tideover; fi
if [ -z "${TIDEOVER_TRIALS_BINARY:-}" ]; then trial_build TideoverTrials; fi
# shellcheck disable=SC2034 # for whoever reads this file
server=$(realpath "${TIDEOVER_BINARY:-.build/static/release/tideover}")
# shellcheck disable=SC2034
trials=$(realpath "${TIDEOVER_TRIALS_BINARY:-.build/static/release/TideoverTrials}")
