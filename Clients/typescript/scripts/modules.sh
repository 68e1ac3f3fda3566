#!/bin/sh
# Makes node_modules out of this folder's own packages and Debian's React: no registry is needed.
set -eu
cd "$(dirname -- "$0")/.."
debian=/usr/share/nodejs
rm -rf node_modules
mkdir -p node_modules/@tideover node_modules/@types
for package in client react react-native node; do
    ln -s "../../$package" "node_modules/@tideover/$package"
done
# Copies: what is linked to would look for its own modules beside itself.
for package in react react-dom react-test-renderer react-is scheduler react-shallow-renderer \
    object-assign loose-envify js-tokens @types/react; do
    cp -RL "$debian/$package" "node_modules/$package"
done
# Debian has no package of React Native: tests replace it.
ln -s ../tests/support/react-native node_modules/react-native
