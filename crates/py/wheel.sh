#!/usr/bin/env bash
# Builds a wheel of the Python package into target/wheels, or the folder that is named.
#   crates/py/wheel.sh [--quick] [FOLDER]
# Needs Rust, Python 3.11 or later and maturin (pip install maturin). --quick takes a fraction of the time, and what it
# builds is slower: for tests.
set -euo pipefail
cd "$(dirname "$0")"
profile=dist
if [ "${1:-}" = --quick ]; then
    shift
    export CARGO_PROFILE_DEV_OPT_LEVEL=1 CARGO_PROFILE_DEV_DEBUG=line-tables-only
    profile=dev
fi
exec python3 -m maturin build --profile "$profile" --out "${1:-../../target/wheels}"
