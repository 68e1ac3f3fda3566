#!/bin/sh
# Checks how a built program is loaded: at a random address, with all symbols bound at its start, a
# read-only symbol table from then on, and no executable stack.
#
#   scripts/check-program.sh PROGRAM
set -eu
program=$1
dynamic=$(readelf -dW "$program")
segments=$(readelf -lW "$program")

demand() {
    if ! printf '%s\n' "$2" | grep -qE "$3"; then
        echo "$program: $1 is missing" >&2
        exit 1
    fi
}

demand 'BIND_NOW' "$dynamic" '\(FLAGS\) +.*BIND_NOW|\(FLAGS_1\) +.*NOW|\(BIND_NOW\)'
demand 'PIE' "$segments" '^Elf file type is DYN'
demand 'RELRO' "$segments" '^ +GNU_RELRO'
demand 'a stack that is not executable' "$segments" '^ +GNU_STACK .* RW +0x'
echo "$program: RELRO, BIND_NOW, PIE, no executable stack"
