"""Running a study's runs elsewhere: other people's engines, our content keys.

A task is a run by its number; what it needs is in the study's files, which travel with it; what it returns is the
text to be stored, with its checksum. Nothing else is shared, so that any engine will do.
"""

from __future__ import annotations

import functools
import hashlib
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from . import _native
from ._errors import BadInput

#: Runs these runs of a study of these files, and yields numbers with texts as they come.
Engine = Callable[[Mapping[str, bytes], Sequence[int]], Iterator[tuple[int, str]]]


def write_files(files: Mapping[str, bytes], folder: Path) -> Path:
    """Writes a study's files; returns the study file."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, contents in files.items():
        (folder / name).write_bytes(contents)
    return folder / "study.toml"


def plan(files: Mapping[str, bytes]) -> _native.Plan:
    """The runs of a study of these files, known to this process from then on."""
    return _plan(tuple(sorted(files.items())))


def fresh_plan(files: Mapping[str, bytes]) -> _native.Plan:
    """The same, nobody else's: one that is stopped stays so."""
    return _make(tuple(sorted(files.items())))


@functools.lru_cache(maxsize=8)
def _plan(files: tuple[tuple[str, bytes], ...]) -> _native.Plan:
    return _make(files)


def _make(files: tuple[tuple[str, bytes], ...]) -> _native.Plan:
    folder = _folder(files)
    study = write_files(dict(files), folder)
    return _native.Plan("study.toml", study.read_text(encoding="utf-8"), str(folder))


def _folder(files: tuple[tuple[str, bytes], ...]) -> Path:
    digest = hashlib.sha256(repr(files).encode()).hexdigest()[:16]
    return Path(_temporary().name) / digest


@functools.lru_cache(maxsize=1)
def _temporary() -> tempfile.TemporaryDirectory[str]:
    """A folder that goes away with the process."""
    return tempfile.TemporaryDirectory(prefix="warpsim-study-")


def execute(files: Mapping[str, bytes], index: int) -> tuple[int, str]:
    """A run, in whatever process: its number, and the text to be stored."""
    return index, plan(files).execute(index)


def on_dask(client: Any) -> Engine:
    """The engine of a Dask client."""

    def engine(files: Mapping[str, bytes], runs: Sequence[int]) -> Iterator[tuple[int, str]]:
        try:
            from distributed import as_completed
        except ImportError as error:
            raise BadInput(f"Dask is not to be had ({error}): pip install 'warpsim[dask]'") from None
        # The files go to the workers once, not with every task; as a task, they outlive any worker.
        shared = client.submit(dict, files, pure=False)
        tasks = client.map(execute, [shared] * len(runs), list(runs), pure=False, retries=2)
        try:
            for task in as_completed(tasks):
                yield task.result()
        finally:
            client.cancel(tasks)

    return engine


def on_ray() -> Engine:
    """The engine of the Ray that this process is connected to."""

    def engine(files: Mapping[str, bytes], runs: Sequence[int]) -> Iterator[tuple[int, str]]:
        try:
            import ray
        except ImportError as error:
            raise BadInput(f"Ray is not to be had ({error}): pip install 'warpsim[ray]'") from None
        if not ray.is_initialized():
            ray.init()
        shared = ray.put(dict(files))
        remote = ray.remote(execute).options(max_retries=3)
        waiting = [remote.remote(shared, index) for index in runs]
        try:
            while waiting:
                done, waiting = ray.wait(waiting)
                for task in done:
                    yield ray.get(task)
        finally:
            for task in waiting:
                ray.cancel(task)

    return engine
