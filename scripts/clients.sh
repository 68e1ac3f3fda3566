#!/bin/sh
# Checks the clients in Clients/: types, tests, the published packages, and the documents.
#
#   scripts/clients.sh          everything; builds the program unless TIDEOVER_BINARY names one
#   TIDEOVER_CLIENT_SCENARIOS=all scripts/clients.sh    plays all scenarios of both stores
#   scripts/clients.sh types    writes the generated types again, from the program's /openapi.json
#
# No registry is needed: TypeScript and React come from Debian.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
# shellcheck source=scripts/require.sh
. "$root/scripts/require.sh"
require_packages "$(missing_for_clients)"
cd "$root"
if [ -z "${TIDEOVER_BINARY:-}" ]; then
    swift build --product tideover >&2
    TIDEOVER_BINARY=$root/.build/debug/tideover
fi
TIDEOVER_BINARY=$(readlink -f "$TIDEOVER_BINARY")
export TIDEOVER_BINARY

if [ "${1:-}" = types ]; then
    types=$(node Clients/typescript/scripts/served-types.mjs)
    printf '%s\n' "$types" >Clients/typescript/client/src/types.ts
    exit
fi
TIDEOVER_PACKED=$root/.build/clients
TIDEOVER_PROVENANCE=$root/scripts/pack_provenance.py
export TIDEOVER_PACKED TIDEOVER_PROVENANCE
rm -rf "$TIDEOVER_PACKED"
scripts/pack.sh "$TIDEOVER_PACKED"

# In a copy, so that no files remain among the sources.
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -R Clients "$copy/"
for folder in Conformance docs/guides Scenarios Examples; do
    mkdir -p "$copy/$folder"
    cp -R "$folder/." "$copy/$folder/"
done
cd "$copy/Clients/typescript"
scripts/modules.sh
for package in client react react-native node tests/types; do
    tsc -p "$package"
done
# For Debian's Express, which its own Node finds without it.
NODE_PATH=/usr/share/nodejs node --test tests/*.test.mjs
cd ../python
PYTHONPATH=src /usr/bin/python3 -m unittest discover -s tests -t .

# Both read as many answers, boundaries and prompts of the core's tables.
python=$(PYTHONPATH=src /usr/bin/python3 -c 'from tests.support import core_answers, core_edges, core_prompts
print(*(len(list(it())) for it in (core_answers, core_edges, core_prompts)))')
cd ../typescript
node=$(node --input-type=module -e 'import * as it from "./tests/support/tables.mjs";
console.log([it.coreAnswers, it.coreEdges, it.corePrompts].map((each) => each().length).join(" "))')
[ "$node" = "$python" ] || {
    echo "clients.sh: TypeScript reads $node answers, boundaries and prompts, Python $python" >&2
    exit 1
}
echo "clients.sh: both clients read $node answers, boundaries and prompts of the core's tables"
