#!/usr/bin/env bash
# Attacks a server in every known way at once, beside honest clients, and prints what came of it.
#
#   scripts/soak.sh [MINUTES] [--purchases N]   an hour unless told otherwise; times are judged
#   scripts/soak.sh MINUTES ATTACK...           only some of the attacks: purchases, forgeries,
#                                               public-key, reports, idle, slow, log
#   scripts/soak.sh MINUTES --short             times are only told
#
# The addresses of server and clients are in a network namespace, which ends with the trial; without the
# right to make one they are those of loopback, and the script says so. docs/trials.md tells more.
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
