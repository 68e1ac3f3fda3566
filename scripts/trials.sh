# shellcheck shell=bash
# The programs of the trials, for the scripts that run them. Source it.
#
#   server   the program under trial: $TIDEOVER_BINARY, else a release build
#   trials   the program that runs the trials, built the same way
#
# Nothing is built if both TIDEOVER_BINARY and TIDEOVER_TRIALS_BINARY are given.

# Trials write keys, and the server rejects keys that other users can read.
umask 077

# Builds one product for release. Both products share modules, which are compiled only once if the
# manifest is the same. So the variable is set for both.
trial_build() {
    TIDEOVER_TRIALS=1 swift build --configuration release --static-swift-stdlib \
        --scratch-path .build/static --product "$1" >&2
}

if [ -z "${TIDEOVER_BINARY:-}" ]; then trial_build tideover; fi
if [ -z "${TIDEOVER_TRIALS_BINARY:-}" ]; then trial_build TideoverTrials; fi
# shellcheck disable=SC2034 # for scripts that source this file
server=$(realpath "${TIDEOVER_BINARY:-.build/static/release/tideover}")
# shellcheck disable=SC2034
trials=$(realpath "${TIDEOVER_TRIALS_BINARY:-.build/static/release/TideoverTrials}")
