#!/usr/bin/env bash
# Connects a server to PostgreSQL by TLS with a password, and with what it must refuse.
#
#   scripts/verify-postgres-tls.sh            exit code 1 if it accepts or rejects the wrong ones
#   scripts/verify-postgres-tls.sh --wrong    without verification; exit code 1 unless that is seen
#
# Takes some seconds. See docs/trials.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/require.sh
. scripts/require.sh
require_packages "$(
    missing_for_postgres
    command -v openssl >/dev/null || echo openssl
)"
require_program
exec python3 -B scripts/verify_postgres_tls.py "$program" "$@"
