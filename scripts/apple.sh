# shellcheck shell=sh
# Apple's own library for Python, for the scripts that ask it. Read with `.` after require.sh, not run:
#
#   require_packages "$(missing_for_building) $(missing_for_apple)"
#   require_apple      from PyPI into .build/compare, once; sets `python`, which finds it; where it cannot be
#                      had it says so and ends with 75, which is neither good nor bad

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
