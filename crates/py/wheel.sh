#!/usr/bin/env bash
# Builds a wheel of the Python package into target/wheels, or the folder that is named.
#   crates/py/wheel.sh [--quick] [FOLDER]
# Needs Rust, Python 3.11 or later and maturin (pip install maturin). --quick builds what tests are built of, in
# a fraction of the time; what it builds is slower.
set -euo pipefail
cd "$(dirname "$0")"
profile=release
if [ "${1:-}" = --quick ]; then
    shift
    # The settings of [profile.test]: whoever has built the tests has built nearly everything.
    export CARGO_PROFILE_DEV_OPT_LEVEL="${CARGO_PROFILE_TEST_OPT_LEVEL:-2}"
    export CARGO_PROFILE_DEV_DEBUG=line-tables-only
    profile=dev
fi
exec python3 -m maturin build --profile "$profile" --out "${1:-../../target/wheels}"
