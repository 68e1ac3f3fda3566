#!/bin/sh
# Makes node_modules out of this folder's own packages and Debian's React: no registry is needed.
set -eu
cd "$(dirname -- "$0")/.."
debian=/usr/share/nodejs
mkdir -p node_modules/@tideover node_modules/@types
for package in client react react-native node; do
    ln -sfn "../../$package" "node_modules/@tideover/$package"
done
for package in react react-dom react-test-renderer react-is scheduler react-shallow-renderer \
    object-assign loose-envify js-tokens @types/react @types/react-test-renderer; do
    ln -sfn "$debian/$package" "node_modules/$package"
done
