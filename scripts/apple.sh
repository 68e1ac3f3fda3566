# shellcheck shell=sh
# Installs Apple's own library for Python, for the scripts that use it. Source it after require.sh:
#
#   require_packages "$(missing_for_building) $(missing_for_apple)"
#   require_apple      installs it from PyPI into .build/compare, once, and sets `python`; if that
#                      is not possible, reports it and exits with 75 (neither passed nor failed)

missing_for_apple() {
    command -v python3 >/dev/null || echo python3
    python3 -c 'import ensurepip' 2>/dev/null || echo python3-venv
}

require_apple() {
    python=.build/compare/bin/python
    "$python" -c 'import appstoreserverlibrary' 2>/dev/null && return 0
    python3 -m venv .build/compare
    if ! "$python" -m pip --quiet install 'app-store-server-library==3.1.2' >&2; then
        echo "skipped: Apple's library could not be fetched from PyPI"
        exit 75
    fi
}
