"""The examples run, and say what they ought to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def run(name: str, *arguments: str) -> str:
    environment = {**os.environ, "TRITON_DEFAULT_FP_FUSION": "1"}
    command = [sys.executable, str(EXAMPLES / name), *arguments]
    told = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert told.returncode == 0, told.stderr
    return told.stdout


def test_numba_kernel() -> None:
    pytest.importorskip("numba_cuda", reason="needs numba-cuda with NVVM")
    pytest.importorskip("pandas")
    shown = run("numba_kernel.py")
    assert "instructions per cycle" in shown and "waited.data_memory" in shown


def test_triton_kernel() -> None:
    pytest.importorskip("triton")
    assert "softmax on gtx480" in run("triton_kernel.py")


def test_sweep(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    shown = run("sweep.py", str(tmp_path / "out"))
    assert "240" in shown and "histogram" in shown
    assert (tmp_path / "out/latencies.png").read_bytes().startswith(b"\x89PNG")


def test_scheduler() -> None:
    lines = run("scheduler.py").splitlines()
    assert [line.split()[0] for line in lines] == ["lrr", "gto", "BarrierFirst"]
    assert all(line.endswith("correct") for line in lines)


def test_notebook(tmp_path: Path) -> None:
    pytest.importorskip("nbconvert")
    pytest.importorskip("ipykernel")
    out = tmp_path / "executed.ipynb"
    command = ["nbconvert", "--to", "notebook", "--execute", "--output", str(out), str(EXAMPLES / "reduction.ipynb")]
    told = subprocess.run(
        [sys.executable, "-m", *command], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert told.returncode == 0, told.stderr
    cells = [c for c in json.loads(out.read_text())["cells"] if c["cell_type"] == "code"]
    shown = ["".join(o.get("data", {}).get("text/html", [])) for c in cells for o in c["outputs"]]
    assert any("warp states" in html and "timeline" in html for html in shown)
    assert any("waited.barrier" in html for html in shown)
