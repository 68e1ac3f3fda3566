#!/usr/bin/env bash
# Runs all known attacks on a server at the same time, with honest clients, and prints the results.
#
#   scripts/soak.sh [MINUTES] [--purchases N]   an hour by default; times are judged
#   scripts/soak.sh MINUTES ATTACK...           only some of the attacks: purchases, forgeries,
#                                               public-key, reports, idle, slow, log
#   scripts/soak.sh MINUTES --short             times are only printed
#
# The addresses of server and clients are in a network namespace, which ends with the trial. Without
# the permission for one, loopback is used, and the script reports it. See docs/trials.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

minutes=60
case ${1:-} in
[1-9]*) minutes=$1 && shift ;;
esac

# shellcheck source=scripts/trials.sh
. scripts/trials.sh
command=("$trials" soak "$minutes" --server "$server")
own_network=(unshare --net)
if command -v ip >/dev/null && "${own_network[@]}" ip link set lo up 2>/dev/null; then
    # shellcheck disable=SC2016 # for the shell inside
    addresses='ip link set lo up
        for number in $(seq 1 40); do ip address add "10.99.0.$number/32" dev lo; done
        exec "$@"'
    command=("${own_network[@]}" sh -euc "$addresses" sh "${command[@]}" --own-network)
else
    echo "soak: no network namespace can be made here; addresses of loopback are used" >&2
fi
exec timeout --kill-after=30s $((minutes + 15))m "${command[@]}" "$@"
