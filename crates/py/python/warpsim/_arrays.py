"""Arrays as buffers of the simulated GPU."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ._errors import BadInput

AnyArray = npt.NDArray[Any]


class Buffer(NamedTuple):
    """What the native side reads and writes in place."""

    label: str
    bytes: AnyArray
    writable: bool
    dtype: str


class Arrays:
    """The arrays of a run, each once however often it is passed.

    A contiguous array, in C or Fortran order, is read and written where it is. Of another one a contiguous copy
    is made, and copied back at the end.
    """

    def __init__(self) -> None:
        self.buffers: list[Buffer] = []
        self._given: list[AnyArray] = []
        self._used: list[AnyArray] = []

    def add(self, array: AnyArray) -> int:
        """The number of an array's buffer."""
        for index, known in enumerate(self._given):
            if known is array or _same(known, array):
                return index
        if array.dtype.hasobject:
            raise BadInput("an array of Python objects is nothing that a GPU could read")
        for known in self._given:
            writes = known.flags.writeable or array.flags.writeable
            if writes and known.size and array.size and np.may_share_memory(known, array):
                raise BadInput(
                    "two arrays share memory without being the same: each would have a buffer of its own\n"
                    "pass the one that holds both, with an offset as another argument, or copy one of them"
                )
        contiguous = array.flags.c_contiguous or array.flags.f_contiguous
        used = array if contiguous else np.array(array, order="C")
        flat = used.ravel(order="K").view(np.uint8) if used.size else np.empty(0, np.uint8)
        index = len(self.buffers)
        self.buffers.append(Buffer(f"array {index}", flat, bool(array.flags.writeable), array.dtype.name))
        self._given.append(array)
        self._used.append(used)
        return index

    def used(self, index: int) -> AnyArray:
        """The array that is simulated on: the one given, or its contiguous copy."""
        return self._used[index]

    def copy_back(self) -> None:
        """Brings results into arrays that were copied."""
        for given, used in zip(self._given, self._used, strict=True):
            if used is not given and given.flags.writeable:
                given[...] = used


def _same(a: AnyArray, b: AnyArray) -> bool:
    """Whether two array objects are the same memory in the same shape."""
    same = a.__array_interface__["data"][0] == b.__array_interface__["data"][0]
    return same and (a.shape, a.strides, a.dtype) == (b.shape, b.strides, b.dtype)
