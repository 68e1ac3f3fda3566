# shellcheck shell=sh
# The system packages that Tideover needs. Source it:
#
#   . scripts/require.sh
#   require_swift
#   require_packages "$(missing_for_building)"
#
# The functions look for a library, a header or a command, not for its package. So a system that was
# prepared in another way is not changed. Packages have their names in Debian 12.

# Prints the Debian packages that are missing for a build, one per line.
missing_for_building() {
    missing_for_toolchain
    command -v ld >/dev/null || echo binutils
    present /usr/include/stdio.h || echo libc6-dev
    present /usr/lib/gcc/*/*/crtbeginS.o || echo libgcc-12-dev
    command -v pkg-config >/dev/null || echo pkg-config
    known_to_pkg_config openssl || echo libssl-dev
    known_to_pkg_config sqlite3 || echo libsqlite3-dev
    known_to_pkg_config libpq || echo libpq-dev
    known_to_pkg_config libmicrohttpd || echo libmicrohttpd-dev
    known_to_pkg_config libcurl || echo libcurl4-openssl-dev
}

# Prints the missing packages with commands of the tests, and the root certificates of TLS.
missing_for_tests() {
    present /etc/ssl/certs/ca-certificates.crt || echo ca-certificates
    command -v sqlite3 >/dev/null || echo sqlite3
    command -v openssl >/dev/null || echo openssl
    # For the commands of the guides, and for the action's description.
    command -v curl >/dev/null || echo curl
    command -v python3 >/dev/null || echo python3
    python3 -c 'import yaml' 2>/dev/null || echo python3-yaml
}

# Prints the missing packages of the full check. Its release build contains Swift's runtime, which is
# linked with the C++ library.
missing_for_full_check() {
    present /usr/lib/gcc/*/*/libstdc++.so || echo libstdc++-12-dev
    command -v shellcheck >/dev/null || echo shellcheck
    # For promtool, which parses the metrics as Prometheus does.
    command -v promtool >/dev/null || echo prometheus
    # For Google's own library.
    python3 -c 'import ensurepip' 2>/dev/null || echo python3-venv
    # For the Debian package of a release.
    command -v dpkg-shlibdeps >/dev/null || echo dpkg-dev
    missing_for_clients
    missing_for_mirror
    missing_for_webhook_receivers
    missing_for_proxy
    missing_for_pgbouncer
    # For the network namespace of the webhooks' address guard.
    command -v ip >/dev/null || echo iproute2
}

# Prints the missing packages for the proxy's example.
missing_for_proxy() {
    command -v nginx >/dev/null || present /usr/sbin/nginx || echo nginx-light
    command -v python3 >/dev/null || echo python3
}

# Prints the missing packages for Clients/: TypeScript, React, frameworks and two more engines.
missing_for_clients() {
    # Also for the JavaScript mirror of Examples/Mirror.
    command -v node >/dev/null || echo nodejs
    command -v tsc >/dev/null || echo node-typescript
    command -v curl >/dev/null || echo curl
    # Two engines without Node's API.
    command -v jsc >/dev/null || echo libjavascriptcoregtk-4.0-bin
    command -v gjs >/dev/null || echo gjs
    present /usr/share/nodejs/express || echo node-express
    present /usr/share/nodejs/react || echo node-react
    present /usr/share/nodejs/react-dom || echo node-react-dom
    present /usr/share/nodejs/react-test-renderer || echo node-react-test-renderer
    present /usr/bin/python3 || echo python3
    for module in setuptools wheel pip fastapi httpx django; do
        /usr/bin/python3 -c "import $module" 2>/dev/null || echo "python3-$module"
    done
}

# Prints the missing packages for scripts/mirror-test.sh: PostgreSQL, and what its receivers run on.
missing_for_mirror() {
    missing_for_postgres
    command -v psql >/dev/null || echo postgresql-client
    present /usr/bin/python3 || echo python3
    /usr/bin/python3 -c 'import psycopg' 2>/dev/null || echo python3-psycopg
    # For the Supabase function, which is compiled and then run by Node.
    command -v node >/dev/null || echo nodejs
    command -v tsc >/dev/null || echo node-typescript
}

# Prints the missing packages for scripts/postgres.sh.
missing_for_postgres() {
    present /usr/lib/postgresql/*/bin/postgres || echo postgresql
}

# Prints the missing packages for scripts/pgbouncer-test.sh.
missing_for_pgbouncer() {
    missing_for_postgres
    command -v psql >/dev/null || echo postgresql-client
    command -v pgbouncer >/dev/null || present /usr/sbin/pgbouncer || echo pgbouncer
}

# Prints the missing packages for scripts/webhook-receivers.sh: the languages of docs/webhooks.md.
missing_for_webhook_receivers() {
    command -v node >/dev/null || echo nodejs
    command -v python3 >/dev/null || echo python3
    command -v go >/dev/null || echo golang-go
    command -v php >/dev/null || echo php-cli
}

# Prints the packages of shared libraries that the Swift toolchain cannot find.
missing_for_toolchain() {
    tools=$(dirname "$(readlink -f "$(command -v swift)")")
    for tool in swift-frontend swift-build swift-test lld; do
        ldd "$tools/$tool" 2>/dev/null
    done | sed -n 's/^[[:space:]]*\([^ ]*\) => not found$/\1/p' | sort -u | while read -r library; do
        case $library in
        libcurl.so.*) echo libcurl4 ;;
        libncurses.so.*) echo libncurses6 ;;
        libsqlite3.so.*) echo libsqlite3-0 ;;
        libstdc++.so.*) echo libstdc++6 ;;
        libuuid.so.*) echo libuuid1 ;;
        libxml2.so.*) echo libxml2 ;;
        libz.so.*) echo zlib1g ;;
        *) say "the Swift toolchain lacks $library; no package is known for it" ;;
        esac
    done
}

# Installs packages from one list of names. Without the permission, prints the command to run.
require_packages() {
    # shellcheck disable=SC2086 # a list of names
    set -- $1
    [ $# -gt 0 ] || return 0
    install="apt-get update && apt-get install -y --no-install-recommends $*"
    if ! command -v apt-get >/dev/null; then
        say "this system lacks what these Debian packages hold: $*"
        exit 69
    elif [ "$(id -u)" -eq 0 ]; then
        run_install "" "$@"
    elif command -v sudo >/dev/null; then
        run_install sudo "$@"
    else
        say "run this as root, then try again:"
        echo "$install"
        exit 69
    fi
}

run_install() {
    as=$1
    shift
    say "installing $*"
    {
        $as apt-get -q update &&
            $as env DEBIAN_FRONTEND=noninteractive \
                apt-get -q install -y --no-install-recommends "$@"
    } >&2 || {
        say "the packages could not be installed: $*"
        exit 69
    }
}

# Sets `program` to the program that TIDEOVER_BINARY names, or to one that it builds in this folder.
require_program() {
    if [ -z "${TIDEOVER_BINARY:-}" ]; then
        require_swift
        require_packages "$(missing_for_building)"
        swift build --product tideover >&2
        TIDEOVER_BINARY=.build/debug/tideover
    fi
    # shellcheck disable=SC2034 # for the script that sources this
    program=$(readlink -f "$TIDEOVER_BINARY")
    unset TIDEOVER_BINARY # the program reads TIDEOVER_* as settings
}

# Sets TIDEOVER_BINARY and TIDEOVER_BENCHMARKS_BINARY to release builds, unless both are given. Call it
# in the root of the project.
require_benchmarks() {
    if [ -z "${TIDEOVER_BINARY:-}" ] || [ -z "${TIDEOVER_BENCHMARKS_BINARY:-}" ]; then
        for product in tideover TideoverBenchmarks; do
            TIDEOVER_BENCHMARKS=1 swift build --configuration release --static-swift-stdlib \
                --product "$product" >&2
        done
        TIDEOVER_BINARY=.build/release/tideover
        TIDEOVER_BENCHMARKS_BINARY=.build/release/TideoverBenchmarks
    fi
}

require_swift() {
    command -v swift >/dev/null && return 0
    say "the Swift toolchain (6.2 or later) is not on the PATH: https://www.swift.org/install"
    exit 69
}

present() {
    [ -e "$1" ]
}

known_to_pkg_config() {
    command -v pkg-config >/dev/null && pkg-config --exists "$1"
}

say() {
    echo "$(basename "$0"): $*" >&2
}
