"""Running something on a simulated machine."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from typing import Any, Literal, NamedTuple

import numpy as np

from . import _native
from ._arrays import Arrays
from ._errors import BadInput
from ._kernel import Dim, Kernel, Launch, Raw, dimensions
from ._machine import Machine, Setting, as_machine
from ._progress import Callback, RunProgress
from ._result import Result
from ._scheduler import Scheduler


class _Step(NamedTuple):
    program: int
    kernel: str
    grid: list[int]
    block: list[int]
    shared: int
    registers: int | None
    together: bool
    given: list[Raw]


def run(
    what: str | PathLike[str] | Kernel | Launch | Sequence[Launch],
    grid: Dim | None = None,
    block: Dim | None = None,
    args: Sequence[Any] = (),
    *,
    machine: Machine | str | PathLike[str] = "gtx480",
    scheduler: str | type[Scheduler] | None = None,
    fetch: str | None = None,
    divergence: str | None = None,
    set: Mapping[str, Setting] | None = None,
    shared: int | None = None,
    registers: int | Literal["estimate", "ptxas"] = "estimate",
    together: bool = False,
    symbols: Mapping[str, Any] | None = None,
    size: Literal["tiny", "small", "large"] | None = None,
    parameters: Mapping[str, int] | None = None,
    seed: int | None = None,
    allow_outside: bool = False,
    functional: bool = False,
    check_races: bool = False,
    max_cycles: int | None = None,
    profile: bool = False,
    timeline: bool | int = False,
    view: bool | int = False,
    progress: bool | Callback | None = None,
) -> Result:
    """Simulates a kernel, some launches, a workload or a launch file.

    >>> run(kernel, grid=4, block=256, args=[a, b, c, 1000])
    >>> run([kernel.launch(4, 256, a, b), other.launch(1, 32, b)])
    >>> run("matmul", size="tiny", scheduler="gto")
    >>> run("examples/vector-add/vector-add.toml")

    Arrays that may be written hold the results afterwards; a run that fails leaves them as they were.
    ``machine`` is a preset's name, a file or a :class:`Machine`; ``scheduler``, ``fetch``, ``divergence`` and ``set`` go
    over what it says. A ``scheduler`` may be a subclass of :class:`Scheduler`, in Python and slow. ``symbols`` are the contents of ``.global`` and
    ``.const`` variables. ``size``, ``parameters`` and ``seed`` are for workloads, ``allow_outside`` lets a launch file
    write outside of its folder. ``profile``, ``timeline`` and ``view`` (True, or the number of an SM) keep more than
    statistics: what :attr:`Result.profile`, :attr:`Result.timeline` and :meth:`Result.view` show. ``progress`` is True or None (shown where somebody looks), False, or a function of kernel, blocks done,
    blocks, cycles and warp instructions. Ctrl-C ends the run.

    A result that is wrong is no exception: see :attr:`Result.result`.
    """
    in_python = scheduler if isinstance(scheduler, type) else None
    if in_python is not None and not issubclass(in_python, Scheduler):
        raise BadInput(f"{in_python.__name__} is no subclass of warpsim.Scheduler")
    named = scheduler if isinstance(scheduler, str) else None
    chosen = as_machine(machine).replace(scheduler=named, fetch=fetch, divergence=divergence, set=set)
    viewed = _sm(view)
    if viewed is not None:
        if functional or check_races:
            raise BadInput("a view shows cycles: functional and check_races run without timing")
        if viewed >= chosen["gpu.sms"]:
            raise BadInput(f"there is no SM {viewed}: {chosen.name} has {chosen['gpu.sms']}, from 0")
    shown = RunProgress(progress)
    options = {
        "functional": functional,
        "check_races": check_races,
        "max_cycles": max_cycles,
        "profile": profile,
        "timeline": _sm(timeline),
        "view": viewed,
        "progress": shown.callback,
        "scheduler": in_python,
        "ptxas": registers == "ptxas",
    }
    try:
        if isinstance(what, (str, PathLike)):
            if grid is not None or block is not None or len(args) or symbols:
                raise BadInput("grid, block, args and symbols are for kernels; a workload or launch file has its own")
            name = fspath(what)
            changes = [f"{k}={v}" for k, v in (parameters or {}).items()]
            text = _native.run_named(chosen._native, name, size, changes, seed, allow_outside, options)
        else:
            if size is not None or parameters or seed is not None:
                raise BadInput("size, parameters and seed are for workloads")
            count = registers if isinstance(registers, int) else None
            launches = _launches(what, grid, block, args, shared, count, together, symbols)
            name = ", ".join(dict.fromkeys(one.kernel.shown for one in launches))
            text = _run_launches(chosen, launches, options)
    finally:
        shown.finish()
    result = Result(name, json.loads(text))
    for warning in result.warnings:
        warnings.warn(warning, stacklevel=2)
    return result


def _sm(asked: bool | int) -> int | None:
    """The SM that is asked for, if one is: True stands for the first."""
    if isinstance(asked, bool):
        return 0 if asked else None
    return asked


def _launches(
    what: Kernel | Launch | Sequence[Launch],
    grid: Dim | None,
    block: Dim | None,
    args: Sequence[Any],
    shared: int | None,
    registers: int | None,
    together: bool,
    symbols: Mapping[str, Any] | None,
) -> list[Launch]:
    if isinstance(what, Kernel):
        if grid is None:
            raise BadInput("how many blocks? a kernel is run with grid=, block= and args=")
        launch = what.launch(grid, block, *args, shared=shared)
        launch.registers, launch.together, launch.symbols = registers, together, symbols or {}
        return [launch]
    if grid is not None or block is not None or len(args):
        raise BadInput("grid, block and args are for a kernel; a launch has its own")
    launches = [what] if isinstance(what, Launch) else list(what)
    if not launches or not all(isinstance(one, Launch) for one in launches):
        raise BadInput("run takes a workload's name, a launch file, a Kernel, a Launch, or a list of launches")
    return launches


def _run_launches(machine: Machine, launches: Sequence[Launch], options: Mapping[str, Any]) -> str:
    arrays = Arrays()
    programs: list[_native.Program] = []
    steps, symbols = [], []
    for launch in launches:
        # Kernels of one text are one module: they share its variables.
        program = launch.kernel._program
        texts = [(p.name, p.ptx) for p in programs]
        if (program.name, program.ptx) not in texts:
            programs.append(program)
        index = texts.index((program.name, program.ptx)) if len(texts) == len(programs) else len(texts)
        steps.append(
            _Step(
                index,
                launch.kernel.name,
                dimensions(launch.grid, "grid"),
                dimensions(launch.block, "block"),
                launch.shared,
                launch.registers,
                launch.together,
                launch.kernel.pass_arguments(launch.args, arrays),
            )
        )
        symbols += [(index, name, np.ascontiguousarray(v).tobytes()) for name, v in launch.symbols.items()]
    text = _native.run_launches(machine._native, programs, arrays.buffers, steps, symbols, options)
    arrays.copy_back()
    return text


