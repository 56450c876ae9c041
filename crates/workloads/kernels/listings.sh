#!/bin/sh
# Makes the listing NAME.sass.gz of every NAME.ptx here (or of those named as arguments, without suffix): its machine
# code for sm_90. Needs NVIDIA's assembler and disassembler (`pip install nvidia-cuda-nvcc nvidia-cuda-nvdisasm`). A
# listing holds the hash of its PTX, which a test compares.
set -eu
cd "$(dirname "$0")"
[ $# -gt 0 ] || set -- $(ls *.ptx | sed 's/\.ptx$//')
for name in "$@"; do set -- "$@" "$name.ptx"; shift; done
cargo run --profile quick -p warpsim-sass --example listings -- "$@"
