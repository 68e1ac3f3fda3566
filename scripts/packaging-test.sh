#!/bin/sh
# Checks the files for operators in Packaging/: alerts, dashboard, compose file, Kubernetes manifests.
#
#   scripts/packaging-test.sh
#
# The alerts run against their tests. Every metric must be in docs/operating.md, every path, port and
# user must be the image's, and the server must accept the configuration. The manifests are
# validated by Kubernetes' own schema, which comes from PyPI into .build/compare; if PyPI cannot be
# reached, that is skipped visibly. TIDEOVER_BINARY names a built program, otherwise it is built.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
# shellcheck source=scripts/require.sh
. "$root/scripts/require.sh"

missing_for_packaging() {
    command -v promtool >/dev/null || echo prometheus
    python3 -c 'import yaml' 2>/dev/null || echo python3-yaml
    python3 -c 'import ensurepip' 2>/dev/null || echo python3-venv
}

require_packages "$(missing_for_packaging)"
cd "$root"
require_program

promtool check config Packaging/monitoring/prometheus.yml
(cd Packaging/monitoring && promtool test rules alerts.test.yml)
python3 -B scripts/packaging_test.py "$program"

validate=.build/compare/bin/kubernetes-validate
if "$validate" --version >/dev/null 2>&1 || {
    python3 -m venv .build/compare &&
        .build/compare/bin/python -m pip --quiet install kubernetes-validate >&2
}; then
    "$validate" --strict Packaging/kubernetes.yaml
else
    echo "skipped: Kubernetes' schema could not be fetched from PyPI"
fi
