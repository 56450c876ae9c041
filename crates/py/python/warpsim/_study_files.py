"""A study as the files that it is made of."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import _toml
from ._arrays import Arrays
from ._errors import BadInput
from ._kernel import Launch, dimensions
from ._machine import Machine

Files = dict[str, bytes]

#: Types of a launch file's buffers.
_TYPES = {"uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float32", "float64"}

#: What a configuration calls a machine's policies.
_POLICIES = {
    "scheduler": "scheduler",
    "fetch.policy": "fetch",
    "divergence": "divergence",
    "warps": "warps",
    "power": "power",
    "virtual.mode": "virtualize",
}


def word(name: str) -> str:
    """A name that files and tables can have."""
    return re.sub(r"[^A-Za-z0-9_.+-]", "-", name) or "x"


def configuration(given: Machine | Mapping[str, Any], name: str, files: Files) -> dict[str, Any]:
    """An entry of a study's ``[configurations]``; a machine that is a text becomes a file."""
    if not isinstance(given, Machine):
        return dict(given)
    entry: dict[str, Any] = {"machine": machine(given, name, files)}
    settings: dict[str, Any] = {}
    for override in given._overrides:
        key, _, value = override.partition("=")
        if key in _POLICIES:
            entry[_POLICIES[key]] = value
        else:
            settings[key] = _plain(value)
    if settings:
        entry["set"] = settings
    return entry


def machine(given: Machine, name: str, files: Files) -> str:
    """What a study calls a machine, without what is set beside."""
    if given._text is None:
        # A machine file stays where it is, with what it extends.
        named = given._base
        return str(Path(named).resolve()) if named.endswith(".toml") or "/" in named else named
    file = f"{word(name)}.machine.toml"
    files[file] = given._text.encode()
    return file


def _plain(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def launch_file(name: str, launches: Sequence[Launch], files: Files) -> str:
    """Writes launches as a launch file with its PTX and arrays; returns its name."""
    programs = {launch.kernel.ptx for launch in launches}
    if len(programs) != 1:
        raise BadInput(f"{name}: the launches of one workload of a study have their kernels in one PTX text")
    stem = word(name)
    files[f"{stem}.ptx"] = programs.pop().encode()
    arrays = Arrays()
    steps = []
    for launch in launches:
        given = launch.kernel.pass_arguments(launch.args, arrays)
        if len(given) != len(launch.kernel.parameters):
            raise BadInput(f"{launch.kernel.name} takes {len(launch.kernel.parameters)} arguments, not {len(given)}")
        step = {
            "launch": launch.kernel.name,
            "grid": dimensions(launch.grid, "grid"),
            "block": dimensions(launch.block, "block"),
            "shared": launch.shared,
            "registers": launch.registers,
            "together": launch.together or None,
            "args": [_argument(raw, p.type, p.size) for raw, p in zip(given, launch.kernel.parameters, strict=True)],
        }
        steps.append(_toml.table("", step))
    parts = [_toml.table("", {"schema": 1, "name": name, "ptx": f"{stem}.ptx"})]
    for index in range(len(arrays.buffers)):
        array = arrays.used(index).ravel(order="K")
        if array.dtype.name not in _TYPES:
            array = array.view(np.uint8)
        data = io.BytesIO()
        np.save(data, array)
        files[f"{stem}-{index}.npy"] = data.getvalue()
        parts.append(_toml.table(f"buffers.b{index}", {"file": f"{stem}-{index}.npy"}))
    for symbol, contents in {k: v for launch in launches for k, v in launch.symbols.items()}.items():
        data = io.BytesIO()
        np.save(data, np.ascontiguousarray(contents).ravel())
        files[f"{stem}-{word(symbol)}.npy"] = data.getvalue()
        parts.append(_toml.table(f"symbols.{symbol}", {"file": f"{stem}-{word(symbol)}.npy"}))
    parts += [f"[[steps]]\n{step}" for step in steps]
    files[f"{stem}.toml"] = "\n".join(parts).encode()
    return f"{stem}.toml"


def _argument(raw: tuple[str, Any], kind: str, size: int) -> Any:
    """An argument of a launch file."""
    how, value = raw
    if how == "buffer":
        return f"b{value}"
    if how == "bytes":
        return {"bytes": list(value)}
    if kind in ("f32", "f64") or (how == "float" and kind in ("b32", "b64")):
        return {f"f{size * 8}": float(value)}
    return {"bytes": list(int(value).to_bytes(size, "little", signed=int(value) < 0))}
