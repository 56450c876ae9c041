"""The same study on other people's engines: the same bytes, whatever happens to the workers."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest
import warpsim
from conftest import contents


def study() -> warpsim.Study:
    return warpsim.Study(
        "spread",
        ["vecadd", "reduction", "histogram"],
        grid={"scheduler": ["lrr", "gto", "tls"]},
        size="tiny",
        repeats=2,
    )


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What one process makes of it."""
    folder = tmp_path_factory.mktemp("alone")
    before = os.getcwd()
    os.chdir(folder)
    try:
        study().run("out", workers=2, progress=False)
    finally:
        os.chdir(before)
    return contents(folder / "out")


def test_dask_with_a_worker_killed_in_the_middle(
    alone: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed")
    monkeypatch.chdir(tmp_path)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        first = next(iter(cluster.workers.values())).pid
        killed = threading.Event()

        def kill_one() -> None:
            # Once something is done and much is not.
            while len(list(tmp_path.glob("out/runs/*.json"))) < 2:
                time.sleep(0.005)
            os.kill(first, signal.SIGKILL)
            killed.set()

        thread = threading.Thread(target=kill_one, daemon=True)
        thread.start()
        result = study().run_on_dask(client, "out", progress=False)
        thread.join(timeout=10)
    assert killed.is_set()
    assert len(result.to_pandas()) == 18 and not result.failures
    assert contents(tmp_path / "out") == alone


def test_ray(alone: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ray = pytest.importorskip("ray")
    monkeypatch.chdir(tmp_path)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        study().run_on_ray("out", progress=False)
    finally:
        ray.shutdown()
    assert contents(tmp_path / "out") == alone


def test_shards_in_folders_of_their_own(alone: dict[str, bytes], tmp_path: Path) -> None:
    file = study().write(tmp_path / "study")
    plan = warpsim._native.Plan(str(file), file.read_text(), str(file.parent))  # type: ignore[attr-defined]
    for shard in ("1/2", "2/2", "1/2"):
        assert plan.run_shard(str(tmp_path / shard[0]), shard, 2) == []
    result = warpsim.merge([tmp_path / "1", tmp_path / "2"], tmp_path / "out")
    merged = contents(result.folder)
    assert merged["results.csv"] == alone["results.csv"]
    assert merged["conclusions.json"] == alone["conclusions.json"]


def test_results_that_were_damaged_on_their_way_are_refused(tmp_path: Path) -> None:
    from warpsim import _clusters

    files = dict(study().files)
    plan = _clusters.plan(files)
    index, text = _clusters.execute(files, 0)
    plan.put(str(tmp_path / "out"), text)
    plan.put(str(tmp_path / "out"), text)
    assert len(plan.absent(str(tmp_path / "out"))) == 17
    with pytest.raises(warpsim.BadInput, match="damaged on its way"):
        plan.put(str(tmp_path / "out"), text.replace('"cycles": ', '"cycles": 1', 1))
