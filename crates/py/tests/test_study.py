"""Studies from objects, in this process and in parts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import warpsim
from conftest import ROOT, contents


def small(name: str = "schedulers") -> warpsim.Study:
    return warpsim.Study(
        name,
        ["vecadd", "reduction"],
        grid={"scheduler": ["lrr", "gto"], "set": {"sm.schedulers": [1, 2]}},
        size="tiny",
        repeats=2,
    )


def test_a_sweep_into_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = small().run(workers=2)
    assert result.folder == Path("results/schedulers") and result.report.exists()
    frame = result.to_pandas()
    assert len(frame) == 16 and set(frame["status"]) == {"correct"}
    assert set(frame["scheduler"]) == {"lrr", "gto"}
    assert result.to_polars()["cycles"].sum() == frame["cycles"].sum()
    assert "scheduler  sm.schedulers" in str(result) and "<svg" in result._repr_html_()
    assert not result.failures
    # Again: from the folder.
    before = {p: p.stat().st_mtime_ns for p in (result.folder / "runs").iterdir()}
    assert small().run(workers=2).to_pandas().equals(frame)
    assert before == {p: p.stat().st_mtime_ns for p in (result.folder / "runs").iterdir()}


CLAIMS = """
[[figures]]
id = "speed"
title = "Speed"
groups = ["workloads"]
configurations = ["lrr", "gto"]
metric = "ipc"
[[figures.claims]]
text = "gto issues something"
claim = "gto > 0"
[[figures.claims]]
text = "gto issues a thousand instructions per cycle"
claim = "gto = 1000 ± 1"
[[figures.claims]]
text = "gto is easier to build"
untested = "nothing is built here"
kind = "detail"
"""


def test_claims_are_told_by_kind_and_untested_ones_as_such(tmp_path: Path) -> None:
    study = warpsim.Study(
        "claims",
        ["vecadd"],
        configurations={"lrr": {"scheduler": "lrr"}, "gto": {"scheduler": "gto"}},
        size="tiny",
        repeats=1,
        toml=CLAIMS,
    )
    result = study.run(tmp_path / "out", workers=1)
    assert sum(kind["untested"] for kind in result.kinds.values()) == 1
    assert result.kinds["details"]["untested"] == 1 and result.kinds["sizes"]["fails"] >= 1
    assert "1 of 2 tested claims hold, 1 not tested" in repr(result)
    assert "1 not tested" in result._repr_html_()
    lines = {line.split()[0]: line for line in str(result).splitlines() if line.strip()}
    assert "untested" in lines["Claims"] and "details" in lines
    assert "nothing is built here" in str(result)
    # A sweep claims nothing.
    swept = repr(small().run(tmp_path / "sweep", workers=1))
    assert "claims hold" not in swept and "not tested" not in swept


def test_the_command_line_makes_the_same_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = os.environ.get("WARPSIM_COMMAND") or str(ROOT / "target/debug/warpsim")
    if not os.path.exists(command):
        pytest.skip("no warpsim command to compare with: WARPSIM_COMMAND names one")
    (tmp_path / "python").mkdir()
    monkeypatch.chdir(tmp_path / "python")
    small().run("out", workers=2)
    small().write(tmp_path / "command")
    subprocess.run([command, "sweep", "study.toml", "-q", "--out", "out"], cwd=tmp_path / "command", check=True)
    python, rust = contents(tmp_path / "python/out"), contents(tmp_path / "command/out")
    marks = [json.loads(files["warpsim-study.json"]) for files in (python, rust)]
    if marks[0]["simulator"] != marks[1]["simulator"]:
        pytest.skip("the warpsim command was built from other sources")
    assert python == rust


def test_machines_kernels_and_arrays_in_a_study(tmp_path: Path, vecadd: warpsim.Kernel) -> None:
    a = np.arange(1000, dtype=np.float32)
    launch = vecadd.launch(4, 256, a, a, np.zeros(1000, np.float32), 1000)
    mine = warpsim.Machine.from_toml('schema = 1\nextends = "gtx480"\nname = "mine"\n[sm]\nschedulers = 1\n')
    study = warpsim.Study(
        "mine",
        {"twice": launch},
        configurations={
            "plain": warpsim.Machine("gtx480"),
            "slow": warpsim.Machine("gtx480", scheduler="lrr", set={"l2.latency": 200}),
            "mine": mine,
        },
        repeats=1,
    )
    frame = study.run(tmp_path / "out", workers=2).to_pandas().set_index("configuration")
    for name, machine in [("plain", "gtx480"), ("mine", mine)]:
        direct = warpsim.run(launch, machine=machine)
        assert frame.loc[name, "cycles"] == direct.cycles
    assert frame.loc["slow", "cycles"] > frame.loc["plain", "cycles"]
    assert set(study.files) >= {"study.toml", "twice.toml", "twice.ptx", "mine.machine.toml"}


def test_machine_files_in_a_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text('schema = 1\nextends = "gtx480"\nname = "mine"\n[sm]\nschedulers = 1\n')
    study = warpsim.Study("x", ["vecadd"], machine="mine.toml", grid={"scheduler": ["lrr"]}, size="tiny", repeats=1)
    # One that was stopped does not keep another from running.
    study._plan().stop()
    frame = study.run("out").to_pandas()
    assert list(frame["machine"]) == ["mine"]


def test_what_makes_no_sense_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(warpsim.BadInput, match="did you mean `vecadd`"):
        warpsim.Study("x", ["vecad"], grid={"scheduler": ["lrr"]})
    with pytest.raises(warpsim.BadInput, match="configurations or a grid"):
        warpsim.Study("x", ["vecadd"])
    with pytest.raises(warpsim.BadInput, match="did you mean `sm.schedulers`"):
        warpsim.Study("x", ["vecadd"], grid={"set": {"sm.sheduler": [1]}})
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(warpsim.BadInput, match="holds no results of a study"):
        small().run(tmp_path)


def test_a_failed_run_is_a_row(tmp_path: Path) -> None:
    endless = str(ROOT / "crates/cli/tests/data/endless.toml")
    study = warpsim.Study("x", ["vecadd", endless], grid={"scheduler": ["gto"]}, size="tiny", repeats=1, max_cycles=5000)
    result = study.run(tmp_path / "out")
    [failure] = result.failures
    assert failure["status"] == "program-failed" and "did not end within" in failure["reason"]
    assert sorted(result.to_pandas()["status"]) == ["correct", "program-failed"]


def test_ctrl_c_ends_a_study_and_keeps_what_is_done(tmp_path: Path) -> None:
    endless = str(ROOT / "crates/cli/tests/data/endless.toml")
    program = f"""
import warpsim
study = warpsim.Study("x", ["vecadd", {endless!r}], grid={{"scheduler": ["gto"]}}, size="tiny", repeats=1)
study.run({str(tmp_path / "out")!r}, workers=2)
"""
    child = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE)
    assert child.stderr is not None
    deadline = time.monotonic() + 60
    while not list((tmp_path / "out").glob("runs/*.json")):
        assert time.monotonic() < deadline and child.poll() is None
        time.sleep(0.1)
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    assert child.wait(timeout=20) != 0
    assert b"KeyboardInterrupt" in child.stderr.read()
    assert len(list((tmp_path / "out").glob("runs/*.json"))) == 1, "what was stopped is no result"
    assert not list((tmp_path / "out").rglob("*.tmp"))


def test_a_slurm_array_run_as_slurm_would(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "one").mkdir()
    monkeypatch.chdir(tmp_path / "one")
    small().run("results", workers=2)
    folder = tmp_path / "job"
    script = small().write_slurm(folder, shards=3, cpus=1, options=["--time=10"])
    text = script.read_text()
    assert "#SBATCH --array=1-3" in text and "#SBATCH --time=10" in text
    # Slurm runs a copy of the script, from wherever it was submitted, with these variables.
    spooled = tmp_path / "spooled.sh"
    spooled.write_text(text)
    spooled.chmod(0o755)
    for task in (2, 1, 2):
        environment = {**os.environ, "SLURM_ARRAY_TASK_ID": str(task), "SLURM_CPUS_PER_TASK": "1"}
        subprocess.run([str(spooled)], cwd=tmp_path, env=environment, check=True)
    merge = [sys.executable, "-m", "warpsim", "merge", str(folder / "results")]
    told = subprocess.run(merge, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert told.returncode == 2 and "are in none of the folders" in told.stderr, "task 3 was lost"
    environment = {**os.environ, "SLURM_ARRAY_TASK_ID": "3"}
    subprocess.run([str(spooled)], cwd=tmp_path, env=environment, check=True)
    told = subprocess.run(merge, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "scheduler  sm.schedulers" in told.stdout and "lrr " in told.stdout
    merged, one = contents(folder / "results"), contents(tmp_path / "one/results")
    # The report says how it was made, by another path.
    merged.pop("report.html")
    one.pop("report.html")
    assert merged == one
