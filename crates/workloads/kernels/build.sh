#!/bin/sh
# Compiles every NAME.cu here to NAME.ptx (or those named as arguments, without suffix). Needs
# clang 14 or later with the NVPTX target; no CUDA. The first line of each PTX holds the POSIX
# checksum and length of the headers it includes and of the source, which a test compares.
set -eu
cd "$(dirname "$0")"
CLANG=${CLANG:-clang}
[ $# -gt 0 ] || set -- $(ls *.cu | sed 's/\.cu$//')
for name in "$@"; do
    headers=$(sed -n 's|^#include "\(.*\)"$|\1|p' "$name.cu")
    # shellcheck disable=SC2086
    stamp=$(cat $headers "$name.cu" | cksum)
    flags=$(sed -n 's|^// flags: ||p' "$name.cu")
    # shellcheck disable=SC2086
    "$CLANG" -x cuda --cuda-device-only -S -O3 --cuda-gpu-arch=sm_35 -nocudainc -nocudalib \
        -fno-exceptions -fdeclspec -Wno-unknown-cuda-version $flags -o "$name.ptx.new" "$name.cu"
    { echo "// source cksum: $stamp"; cat "$name.ptx.new"; } > "$name.ptx"
    rm "$name.ptx.new"
    echo "$name.ptx"
done
