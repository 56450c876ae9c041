"""``python -m warpsim``: parts of studies and their merging, where only the Python package is installed."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from pathlib import Path

from . import _native
from ._errors import BadInput
from ._study import merge


def main(given: list[str] | None = None) -> int:
    """Runs a command; returns the exit code, as the ``warpsim`` command has them."""
    parser = argparse.ArgumentParser(prog="python -m warpsim", description=__doc__)
    parser.add_argument("--version", action="version", version=f"warpsim {_native.__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    sweep = commands.add_parser("sweep", help="run a part of a study file")
    sweep.add_argument("file", type=Path)
    sweep.add_argument("--shard", metavar="K/N", default="1/1")
    sweep.add_argument("--out", type=Path, required=True)
    sweep.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    merging = commands.add_parser("merge", help="put parts together")
    merging.add_argument("folders", type=Path, nargs="+")
    merging.add_argument("--out", type=Path)
    arguments = parser.parse_args(given)
    try:
        if arguments.command == "merge":
            print(merge(arguments.folders, arguments.out))
            return 0
        return _sweep(arguments.file, arguments.shard, arguments.out, arguments.jobs)
    except BadInput as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def _sweep(file: Path, shard: str, out: Path, jobs: int) -> int:
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"cannot read {file}: {error}") from None
    plan = _native.Plan(str(file), text, str(file.parent))
    failures = plan.run_shard(str(out), shard, jobs)
    for failure in failures:
        print(failure, file=sys.stderr)
    return 3 if failures else 0


if __name__ == "__main__":
    # Ctrl-C ends it at once: files are written whole or not at all, and what is done is kept.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(main())
