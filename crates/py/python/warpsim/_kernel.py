"""Kernels: PTX from wherever it comes, with how its arguments are passed."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from . import _native
from ._arrays import AnyArray, Arrays
from ._errors import BadInput

Dim = int | Sequence[int]
Raw = tuple[str, Any]


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel, as its PTX declares it."""

    name: str
    type: str
    size: int


@dataclass
class Launch:
    """A kernel with grid, block and arguments.

    Arguments are NumPy arrays (buffers, written back where they may be), Python numbers (they take the parameter's
    type), NumPy scalars and ``bytes`` (passed as they are, for structs).
    """

    kernel: Kernel
    grid: Dim
    block: Dim
    args: Sequence[Any] = ()
    shared: int = 0
    registers: int | None = None
    together: bool = False
    symbols: Mapping[str, Any] = field(default_factory=dict)


class Kernel:
    """A kernel that can be simulated.

    >>> kernel = Kernel(ptx_text)            # the only kernel of the text, or
    >>> kernel = Kernel(ptx_text, "vecadd")  # the one of this name (or the only one with it in its name)
    """

    def __init__(self, ptx: str, name: str | None = None, *, file: str = "kernel.ptx") -> None:
        self._program = _native.Program(file, ptx)
        names = self._program.kernels()
        if name is None and len(names) != 1:
            raise BadInput(f"{file} has {len(names)} kernels: say which\nkernels: {', '.join(map(_native.shown, names))}")
        #: Its name, as the PTX has it.
        self.name = names[0] if name is None else self._program.find(name)
        #: The same as C++ has it.
        self.shown = _native.shown(self.name)
        #: Its parameters.
        self.parameters = [Parameter(*p) for p in self._program.parameters(self.name)]
        #: Threads per block that it requires, or None.
        self.required_block = self._program.required_block(self.name)
        #: Dynamic shared memory that a launch gets where nothing else is said.
        self.shared = 0

    @classmethod
    def from_file(cls, path: str | PathLike[str], name: str | None = None) -> Kernel:
        """A kernel from a ``.ptx`` file, or from a ``.cu`` file that clang compiles."""
        path = fspath(path)
        if path.endswith(".cu"):
            return cls(_native.compile_cuda(path), name, file=path)
        return cls(_native.read_ptx(path), name, file=path)

    @classmethod
    def from_cuda(cls, source: str, name: str | None = None) -> Kernel:
        """A kernel from CUDA C, compiled by clang (or what the variable CLANG names); no CUDA is needed.

        The text includes ``warpsim.cuh``, as launch files' ``.cu`` files do.
        """
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "kernel.cu"
            path.write_text(source, encoding="utf-8")
            ptx = _native.compile_cuda(str(path))
            # The same text is the same kernel, wherever it was compiled.
            return cls(ptx.replace(f'"{folder}/', '"'), name, file="kernel.cu")

    @staticmethod
    def from_numba(function: Callable[..., Any], signature: Any, *, cc: tuple[int, int] = (7, 5)) -> Kernel:
        """A kernel from a Python function, compiled by Numba (``numba-cuda`` with NVVM; no GPU is needed).

        >>> Kernel.from_numba(axpy, "void(float32, float32[::1], float32[::1])")

        Arrays are passed as Numba passes them, with their shapes and strides.
        """
        from ._numba import NumbaKernel

        return NumbaKernel.compiled(function, signature, cc)

    @staticmethod
    def from_triton(
        function: Any,
        signature: Mapping[str, str],
        constants: Mapping[str, Any] | None = None,
        *,
        num_warps: int = 4,
        num_stages: int = 3,
        arch: int = 75,
    ) -> Kernel:
        """A kernel from a ``triton.jit`` function, compiled by Triton (no GPU is needed).

        >>> Kernel.from_triton(add, {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32"}, {"BLOCK": 256})

        Launch it with ``block=kernel.required_block``, which :func:`run` takes if no block is given; arguments are
        those that are no constants.
        """
        from ._triton import TritonKernel

        options = {"num_warps": num_warps, "num_stages": num_stages}
        return TritonKernel.compiled(function, signature, constants or {}, arch, options)

    @property
    def ptx(self) -> str:
        """The PTX."""
        return self._program.ptx

    def launch(self, grid: Dim, block: Dim | None, *args: Any, shared: int | None = None) -> Launch:
        """A launch of it, for :func:`run` and :class:`Study`."""
        block = self.required_block if block is None else block
        if block is None:
            raise BadInput(f"how many threads has a block of {self.shown}? say block=")
        return Launch(self, grid, block, args, self.shared if shared is None else shared)

    def pass_arguments(self, args: Sequence[Any], arrays: Arrays) -> list[Raw]:
        """Arguments as the native side takes them; arrays are added to ``arrays``."""
        return [raw for arg in args for raw in self.pass_one(arg, arrays)]

    def pass_one(self, arg: Any, arrays: Arrays) -> list[Raw]:
        """One argument, which may take several parameters."""
        if isinstance(arg, np.ndarray):
            return self.pass_array(arg, arrays)
        if isinstance(arg, (np.generic,)):
            return [("bytes", arg.tobytes())]
        if isinstance(arg, (bool, int)):
            return [("int", int(arg))]
        if isinstance(arg, float):
            return [("float", arg)]
        if isinstance(arg, (bytes, bytearray, memoryview)):
            return [("bytes", bytes(arg))]
        raise BadInput(
            f"{type(arg).__name__} is no argument of a kernel: arguments are NumPy arrays, numbers and bytes\n"
            "(numpy.asarray makes an array of most things that hold numbers)"
        )

    def pass_array(self, array: AnyArray, arrays: Arrays) -> list[Raw]:
        """An array: its address."""
        return [("buffer", arrays.add(array))]

    def __repr__(self) -> str:
        parameters = ", ".join(f".{p.type} {p.name}" for p in self.parameters)
        return f"<warpsim.Kernel {self.shown}({parameters})>"

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return _remake, (type(self), self._program.name, self.ptx, self.name, self.shared)


def _remake(kind: type[Kernel], file: str, ptx: str, name: str, shared: int) -> Kernel:
    kernel = kind(ptx, name, file=file)
    kernel.shared = shared
    return kernel


def dimensions(given: Dim, what: str) -> list[int]:
    """Three dimensions of a number, a pair or a triple."""
    numbers = [given] if isinstance(given, (int, np.integer)) else list(given)
    if not 1 <= len(numbers) <= 3 or any(not 0 < int(n) < 2**32 for n in numbers):
        raise BadInput(f"{what} is one, two or three numbers from 1 on, not {given!r}")
    return [int(n) for n in numbers] + [1] * (3 - len(numbers))
