"""Studies: many runs, compared; here or on a cluster."""

from __future__ import annotations

import concurrent.futures as futures
import json
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from . import _clusters, _native, _toml
from ._errors import BadInput
from ._kernel import Launch
from ._machine import Machine
from ._progress import StudyProgress
from ._study_files import Files, configuration, launch_file, word

if TYPE_CHECKING:
    import pandas
    import polars

Workload = str | Launch | Sequence[Launch]


class Study:
    """Workloads under configurations: what ``warpsim study`` and ``warpsim sweep`` run, built from objects.

    >>> study = Study(
    ...     "schedulers",
    ...     workloads=["matmul", "reduction"],
    ...     grid={"scheduler": ["lrr", "gto"], "set": {"sm.schedulers": [1, 2]}},
    ...     size="tiny",
    ... )
    >>> table = study.run("results/schedulers").to_pandas()

    ``workloads`` are names of the suite, paths of launch files, or a mapping from names to launches of your own
    kernels. ``configurations`` maps names to machines (or to what a study file has there), and ``grid`` is every
    combination of its lists, as in a study file; at least one of the two is given. ``toml`` is added to the study
    file: figures, claims, metrics. Results are kept under a hash of all that determines them, one file per run, so
    that a study goes on where it was, wherever its runs were made.
    """

    def __init__(
        self,
        name: str,
        workloads: Sequence[Workload] | Mapping[str, Workload],
        *,
        machine: Machine | str = "gtx480",
        configurations: Mapping[str, Machine | Mapping[str, Any]] | None = None,
        grid: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        size: Literal["tiny", "small", "large"] | None = None,
        repeats: int | None = None,
        seed: int | None = None,
        max_cycles: int | None = None,
        title: str | None = None,
        toml: str = "",
    ) -> None:
        if not configurations and not grid:
            raise BadInput("a study needs configurations or a grid")
        #: The study's name.
        self.name = name
        self._files: Files = {}
        self._files["study.toml"] = self._text(
            workloads, machine, configurations or {}, grid, size, repeats, seed, max_cycles, title, toml
        ).encode()
        # Checks everything, now and here.
        self._plan()

    def _text(
        self,
        workloads: Sequence[Workload] | Mapping[str, Workload],
        base: Machine | str,
        configurations: Mapping[str, Machine | Mapping[str, Any]],
        grid: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None,
        size: str | None,
        repeats: int | None,
        seed: int | None,
        max_cycles: int | None,
        title: str | None,
        toml: str,
    ) -> str:
        whole = configuration(base if isinstance(base, Machine) else Machine(base), "base", self._files)
        top = {
            "schema": 1,
            "name": self.name,
            "title": title,
            "machine": whole.pop("machine"),
            "size": size,
            "seed": seed,
            "max_cycles": max_cycles,
        }
        parts = [_toml.table("", top)]
        if repeats is not None:
            parts.append(_toml.table("repeats", {"count": repeats}))
        parts.append(_toml.table("groups.workloads", {"workloads": self._workloads(workloads)}))
        if configurations:
            lines = {}
            for name, given in configurations.items():
                entry = configuration(given, name, self._files)
                changed = {**whole.get("set", {}), **entry.get("set", {})}
                entry = {**{k: v for k, v in whole.items() if k != "set"}, **entry}
                lines[json.dumps(name)] = {**entry, "set": changed} if changed else entry
            parts.append(_toml.table("configurations", lines))
        elif whole:
            raise BadInput("with a grid, settings of the machine go into the grid (or into configurations)")
        grids = [grid] if isinstance(grid, Mapping) else list(grid or [])
        parts += [_toml.table("[grid]", one) for one in grids]
        return "\n".join([*parts, toml])

    def _workloads(self, given: Sequence[Workload] | Mapping[str, Workload]) -> list[str]:
        named = given.items() if isinstance(given, Mapping) else ((None, one) for one in given)
        return [self._workload(name, one) for name, one in named]

    def _workload(self, name: str | None, given: Workload) -> str:
        if isinstance(given, str):
            if given.endswith(".toml"):
                # Launch files stay where they are, with what they read.
                return str(Path(given).resolve())
            return given
        launches = [given] if isinstance(given, Launch) else list(given)
        if name is None:
            raise BadInput("launches of your own have a name in a study: workloads={'mine': launch}")
        return launch_file(name, launches, self._files)

    @property
    def files(self) -> Mapping[str, bytes]:
        """The study file and what it needs, for ``warpsim sweep study.toml`` and for looking at."""
        return dict(self._files)

    def write(self, folder: str | PathLike[str]) -> Path:
        """Writes the files into a folder; returns the study file."""
        return _clusters.write_files(self._files, Path(folder))

    def _plan(self) -> _native.Plan:
        return _clusters.plan(self._files)

    def run(
        self,
        out: str | PathLike[str] | None = None,
        *,
        workers: int | None = None,
        progress: bool | None = None,
    ) -> StudyResult:
        """Runs what ``out`` (``results/NAME`` if not given) does not have, on threads here, and writes the report.

        Ctrl-C ends it; what is done is kept.
        """
        folder, plan, absent, shown = self._begin(out, progress)
        names = [name for _, name in plan.runs()]
        pool = futures.ThreadPoolExecutor(workers or os.cpu_count())
        try:
            pending = {pool.submit(plan.execute, index): index for index in absent}
            for done in futures.as_completed(pending):
                plan.put(folder, done.result())
                shown.done(names[pending[done]])
        except BaseException:
            # Runs under way end soon, those that wait do not begin.
            plan.stop()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
            shown.finish()
        return self._conclude(plan, folder)

    def run_on_dask(
        self,
        client: Any,
        out: str | PathLike[str] | None = None,
        *,
        progress: bool | None = None,
    ) -> StudyResult:
        """The same on the workers of a Dask cluster, which need nothing but this package.

        Results come back to this process, which keeps them. A run whose worker dies is run again by Dask.
        """
        return self._run_elsewhere(_clusters.on_dask(client), out, progress)

    def run_on_ray(self, out: str | PathLike[str] | None = None, *, progress: bool | None = None) -> StudyResult:
        """The same on a Ray cluster; ``ray.init`` is yours to call, or one is started here."""
        return self._run_elsewhere(_clusters.on_ray(), out, progress)

    def _run_elsewhere(
        self, engine: _clusters.Engine, out: str | PathLike[str] | None, progress: bool | None
    ) -> StudyResult:
        folder, plan, absent, shown = self._begin(out, progress)
        names = [name for _, name in plan.runs()]
        try:
            for index, text in engine(self._files, absent):
                plan.put(folder, text)
                shown.done(names[index])
        finally:
            shown.finish()
        return self._conclude(plan, folder)

    def _begin(
        self, out: str | PathLike[str] | None, progress: bool | None
    ) -> tuple[str, _native.Plan, list[int], StudyProgress]:
        folder = fspath(out) if out is not None else str(Path("results") / self.name)
        plan = _clusters.fresh_plan(self._files)
        absent = plan.absent(folder)
        return folder, plan, absent, StudyProgress(progress, len(absent))

    def _conclude(self, plan: _native.Plan, folder: str) -> StudyResult:
        return StudyResult(folder, json.loads(plan.conclude(folder, os.cpu_count() or 1)))

    def write_slurm(
        self,
        folder: str | PathLike[str],
        shards: int,
        *,
        out: str | PathLike[str] | None = None,
        cpus: int = 1,
        options: Sequence[str] = (),
        python: str = sys.executable,
    ) -> Path:
        """Writes the study and a Slurm array script into a folder that all nodes see; returns the script.

        Each of the ``shards`` tasks runs its part, on so many ``cpus``, and keeps it in ``out`` (``results`` in the
        folder if not given). ``options`` are further lines for ``#SBATCH``. Then::

            job=$(sbatch --parsable FOLDER/array.sh)
            sbatch --dependency=afterany:$job --wrap "python -m warpsim merge OUT"

        A task that was lost is submitted again by its number (``sbatch --array=3 FOLDER/array.sh``).
        """
        folder = Path(folder).resolve()
        results = Path(out).resolve() if out is not None else folder / "results"
        study = self.write(folder)
        lines = [
            "#!/bin/sh",
            f"#SBATCH --job-name=warpsim-{word(self.name)}",
            f"#SBATCH --array=1-{shards}",
            f"#SBATCH --cpus-per-task={cpus}",
            *(f"#SBATCH {option}" for option in options),
            "",
            "# Part SLURM_ARRAY_TASK_ID of the study: which runs these are follows from the study alone. Run again,",
            "# it does what is not there yet.",
            f"exec {shlex.quote(python)} -m warpsim sweep {shlex.quote(str(study))} \\",
            f'    --shard "$SLURM_ARRAY_TASK_ID/{shards}" --jobs "${{SLURM_CPUS_PER_TASK:-1}}" \\',
            f"    --out {shlex.quote(str(results))}",
            "",
        ]
        script = folder / "array.sh"
        script.write_text("\n".join(lines))
        script.chmod(0o755)
        return script

    def __repr__(self) -> str:
        return f"<warpsim.Study {self.name}: {len(self._plan().runs())} runs>"


class StudyResult:
    """What a study came to; everything is in its folder."""

    def __init__(self, folder: str, conclusion: Mapping[str, Any]) -> None:
        #: The results folder.
        self.folder = Path(folder)
        #: Tables and claims, as the command line shows them with `--full`.
        self.text: str = conclusion["text"]
        #: How many claims came to which verdict.
        self.claims: str = conclusion["claims"]
        #: The same for each kind of claim: ``{"directions": {"holds": 2, "fails": 1, "untested": 0, ...}, ...}``.
        self.kinds: dict[str, dict[str, int]] = conclusion["kinds"]
        self._held, self._tested, self._untested = (conclusion[k] for k in ("held", "tested", "untested"))
        #: Runs that failed: workload, configuration, status, reason.
        self.failures: list[dict[str, Any]] = conclusion["failures"]
        #: The report.
        self.report = self.folder / "report.html"

    def to_pandas(self, table: Literal["results", "figures"] = "results") -> pandas.DataFrame:
        """A row per run with every statistic, or a row for each value of the figures."""
        import pandas

        return pandas.read_csv(self.folder / f"{table}.csv")

    def to_polars(self, table: Literal["results", "figures"] = "results") -> polars.DataFrame:
        """The same for Polars."""
        import polars

        return polars.read_parquet(self.folder / f"{table}.parquet")

    def __repr__(self) -> str:
        failed = f", {len(self.failures)} runs failed" if self.failures else ""
        return f"<warpsim.StudyResult in {self.folder}{self._claims_told()}{failed}>"

    def _claims_told(self) -> str:
        """How many claims hold of those that were tested; nothing where there are none."""
        untested = f"{self._untested} {'' if self._tested else 'claims '}not tested" if self._untested else ""
        tested = f"{self._held} of {self._tested} tested claims hold" if self._tested else ""
        return "".join(f", {text}" for text in (tested, untested) if text)

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        from html import escape

        pictures = sorted((self.folder / "figures").glob("*.svg"))
        told = self._claims_told().removeprefix(", ")
        told = f"<p>{escape(told)}</p>" if told else ""
        return f"{told}<pre>{escape(self.text)}</pre>" + "".join(p.read_text() for p in pictures)


def merge(folders: Sequence[str | PathLike[str]], out: str | PathLike[str] | None = None) -> StudyResult:
    """Puts shards together, as ``warpsim merge`` does; with one folder, that one is completed."""
    if not folders:
        raise BadInput("which folders?")
    plan = _native.Plan.of_shards(fspath(folders[0]))
    if out is None:
        out = folders[0] if len(folders) == 1 else Path("results") / plan.name
    missing = plan.unite([fspath(f) for f in folders], fspath(out))
    if missing:
        some = ", ".join(missing[:5]) + (", ..." if len(missing) > 5 else "")
        raise BadInput(
            f"{len(missing)} of {len(plan.runs())} runs are in none of the folders: {some}\n"
            "run the shards that were lost again, and merge"
        )
    return StudyResult(fspath(out), json.loads(plan.conclude(fspath(out), os.cpu_count() or 1)))

