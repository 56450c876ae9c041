"""What came of a run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from . import _html, _native
from ._errors import BadInput
from ._view import View

if TYPE_CHECKING:
    import pandas
    import polars

Table = Literal["launches", "profile", "timeline"]


@dataclass(frozen=True)
class LaunchResult:
    """A launch with its statistics."""

    #: Its name, as C++ has it.
    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    registers: int
    shared_bytes: int
    blocks_per_sm: int
    limited_by: str
    stats: Mapping[str, float]


class Result:
    """What came of a run: statistics, launches, and what was asked for beside."""

    def __init__(self, what: str, report: Mapping[str, Any]) -> None:
        #: What ran.
        self.what = what
        #: The machine's name.
        self.machine: str = report["machine"]
        #: The issue policy's name.
        self.scheduler: str = report["scheduler"]
        #: The fetch policy's name.
        self.fetch: str = report["fetch"]
        #: The divergence model's name.
        self.divergence: str = report["divergence"]
        #: ``correct``, ``wrong``, or ``unchecked`` where there was nothing to compare with.
        self.result: Literal["correct", "wrong", "unchecked"] = report["result"]
        #: The same in words, with what differs.
        self.outcome: str = report["outcome"]
        #: Statistics of all launches, by the names that ``warpsim list stats`` shows.
        self.stats: Mapping[str, float] = flat(report["totals"])
        #: Each launch.
        self.launches = [_launch(one) for one in report["launches"]]
        #: What kernels printed.
        self.printed: str = report["printed"]
        #: What is odd about the kernels.
        self.warnings: list[str] = report["warnings"]
        #: Races that were found, where they were looked for.
        self.races: list[str] = report["races"]
        #: By instruction: issues, active lanes, and the cycles that warps waited for it by reason; None unless
        #: ``profile=True``.
        self.profile: list[dict[str, Any]] | None = report["profile"]
        #: What the warps of an SM did; None unless ``timeline`` was given.
        self.timeline: Mapping[str, Any] | None = report["timeline"]
        self._view: str | None = report["view"]
        #: Seconds that the simulation took.
        self.seconds: float = report["seconds"]

    @property
    def cycles(self) -> int:
        """Cycles of all launches."""
        return int(self.stats["cycles"])

    @property
    def ipc(self) -> float:
        """Thread instructions per cycle."""
        return float(self.stats["ipc"])

    def rows(self, table: Table = "launches") -> list[dict[str, Any]]:
        """A table as a list of rows."""
        if table == "launches":
            return [_row(self, one) for one in self.launches]
        if table == "profile" and self.profile is not None:
            return [dict(row) for row in self.profile]
        if table == "timeline" and self.timeline is not None:
            columns, states = self.timeline["columns"], self.timeline["states"]
            rows = [dict(zip(columns, segment, strict=True)) for segment in self.timeline["segments"]]
            return [{**row, "state": states[row["state"]]} for row in rows]
        raise BadInput(f"there is no {table}: run with {table}=True")

    def to_pandas(self, table: Table = "launches") -> pandas.DataFrame:
        """A row per launch with all statistics; or the profile, or the timeline."""
        import pandas

        return pandas.DataFrame(self.rows(table))

    def to_polars(self, table: Table = "launches") -> polars.DataFrame:
        """The same for Polars."""
        import polars

        return polars.DataFrame(self.rows(table), infer_schema_length=None)

    def to_json(self) -> str:
        """Everything, as JSON."""
        known = {name: value for name, value in vars(self).items() if not name.startswith("_")}
        return json.dumps(known, default=vars)

    def view(self) -> View:
        """A page in which the warps of an SM can be stepped through, where the run was asked for it: ``view=True``, or the
        number of an SM. A notebook shows it."""
        if self._view is None:
            raise BadInput("there is no view: run with view=True")
        return View(self._view)

    def summary(self) -> list[tuple[str, str]]:
        """The numbers that people look at first."""
        stats = self.stats
        launches = f"{len(self.launches)} launch{'es' if len(self.launches) != 1 else ''}"
        rows = [
            ("ran", f"{self.what} on {self.machine}"),
            ("policies", f"scheduler {self.scheduler}, fetch {self.fetch}, divergence {self.divergence}"),
            ("result", self.outcome),
            ("cycles", f"{self.cycles:,} in {launches}"),
            ("thread instructions", f"{int(stats['thread_instructions']):,}"),
        ]
        if self.cycles:
            rows.insert(4, ("instructions per cycle", f"{self.ipc:.2f}"))
        return [*rows, ("simulated in", f"{self.seconds:.2f} s")]

    def __repr__(self) -> str:
        return f"<warpsim.Result {self.what} on {self.machine}: {self.result}, {self.cycles} cycles>"

    def __str__(self) -> str:
        width = max(len(name) for name, _ in self.summary())
        return "\n".join(f"{name.ljust(width)}  {value}" for name, value in self.summary())

    def _repr_html_(self) -> str:
        parts = [_html.table(self.summary()), _html.stall_chart(self.stats)]
        if self.timeline is not None:
            parts.append(_html.timeline_chart(self.timeline))
        return "".join(parts)


def flat(nested: Mapping[str, Any]) -> dict[str, float]:
    """Statistics by one name each: ``warp_states.barrier``."""
    all_of_them: dict[str, float] = {}
    for name, value in nested.items():
        if isinstance(value, dict):
            all_of_them.update((f"{name}.{k}", v) for k, v in value.items() if isinstance(v, (int, float)))
        elif isinstance(value, (int, float)):
            all_of_them[name] = value
    return all_of_them


def _launch(report: Mapping[str, Any]) -> LaunchResult:
    return LaunchResult(
        kernel=_native.shown(report["kernel"]),
        grid=tuple(report["grid"]),
        block=tuple(report["block"]),
        registers=report["registers"],
        shared_bytes=report["shared_bytes"],
        blocks_per_sm=report["blocks_per_sm"],
        limited_by=report["limited_by"],
        stats=flat(report["stats"]),
    )


def _row(result: Result, launch: LaunchResult) -> dict[str, Any]:
    return {
        "kernel": launch.kernel,
        "machine": result.machine,
        "scheduler": result.scheduler,
        "fetch": result.fetch,
        "divergence": result.divergence,
        "grid": "x".join(map(str, launch.grid)),
        "block": "x".join(map(str, launch.block)),
        "registers": launch.registers,
        "shared_bytes": launch.shared_bytes,
        "blocks_per_sm": launch.blocks_per_sm,
        "limited_by": launch.limited_by,
        **launch.stats,
    }
