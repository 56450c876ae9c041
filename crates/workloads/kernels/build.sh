#!/bin/sh
# Compiles every NAME.cu here to NAME.ptx (or those named as arguments, without suffix). Needs
# clang 14 or later with the NVPTX target; no CUDA. The first line of each PTX holds the POSIX
# checksum and length of header and source, which a test compares with the files.
set -eu
cd "$(dirname "$0")"
CLANG=${CLANG:-clang}
[ $# -gt 0 ] || set -- $(ls *.cu | sed 's/\.cu$//')
for name in "$@"; do
    stamp=$(cat warpsim.cuh "$name.cu" | cksum)
    flags=$(sed -n 's|^// flags: ||p' "$name.cu")
    # shellcheck disable=SC2086
    "$CLANG" -x cuda --cuda-device-only -S -O3 --cuda-gpu-arch=sm_35 -nocudainc -nocudalib \
        -fno-exceptions -fdeclspec -Wno-unknown-cuda-version $flags -o "$name.ptx.new" "$name.cu"
    { echo "// source cksum: $stamp"; cat "$name.ptx.new"; } > "$name.ptx"
    rm "$name.ptx.new"
    echo "$name.ptx"
done
