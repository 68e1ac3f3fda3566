#!/usr/bin/env bash
# Opens every page of the dashboard in Chromium and takes a screenshot of each.
#
#   scripts/dashboard-shots.sh FOLDER [PROGRAM]     PROGRAM is a built `tideover`
#
# The pages are those of the demo and of simulated stores, light and dark, 390 and 1440 wide. The
# script drives the stores by the buttons of their page. It fails if a page reports an error,
# requests another host, violates its own policy or is wider than its window, and if a key or a
# button does not do what the documentation describes.
set -euo pipefail
root=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/require.sh
. "$root/scripts/require.sh"

folder=${1:?the folder for the screenshots}
missing=""
command -v chromium >/dev/null || missing="chromium"
command -v python3 >/dev/null || missing="$missing python3"
require_packages "$missing"
program=${2:-}
if [ -z "$program" ]; then
    require_swift
    require_packages "$(missing_for_building)"
    swift build --package-path "$root" --product tideover >&2
    program=$(swift build --package-path "$root" --show-bin-path)/tideover
fi
mkdir -p "$folder"
exec python3 -B "$root/scripts/dashboard_shots.py" "$program" "$folder"
