"""What tests share."""

from __future__ import annotations

from pathlib import Path

import pytest
import warpsim

ROOT = Path(__file__).resolve().parents[3]

VECADD = (ROOT / "examples" / "vector-add" / "vector-add.ptx").read_text()


@pytest.fixture
def vecadd() -> warpsim.Kernel:
    """c[i] = a[i] + b[i] for i below n."""
    return warpsim.Kernel(VECADD)


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a results folder that does not depend on the host's time."""
    files = (p for p in folder.rglob("*") if p.is_file() and p.parent.name != "runs")
    found = {str(p.relative_to(folder)): p.read_bytes() for p in files}
    found.pop("request.json", None)  # what a shard was asked for
    return found
