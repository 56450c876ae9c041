"""Kernels that Numba compiles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._arrays import AnyArray, Arrays
from ._errors import BadInput
from ._kernel import Kernel, Raw


class NumbaKernel(Kernel):
    """A kernel with Numba's way of passing arrays: a struct of address, shape and strides, flattened."""

    @classmethod
    def compiled(cls, function: Callable[..., Any], signature: Any, cc: tuple[int, int]) -> NumbaKernel:
        try:
            from numba import cuda
            from numba.core import sigutils
        except ImportError as error:
            raise BadInput(f"Numba is not to be had ({error}): pip install 'warpsim[numba]'") from None
        # A dispatcher (`@cuda.jit`) has the function within.
        function = getattr(function, "py_func", function)
        arguments, _ = sigutils.normalize_signature(signature)
        try:
            ptx, _ = cuda.compile_ptx(function, arguments, device=False, cc=cc)
        except TypeError as error:
            # It returns something, or is not what Numba takes.
            raise BadInput(f"{function.__name__}: {error}") from error
        except Exception as error:
            if type(error).__name__ in ("NvvmSupportError", "CudaSupportError"):
                raise BadInput(f"Numba's compiler is not to be had ({error}): pip install 'numba-cuda[cu12]'") from error
            raise
        return cls(ptx, None, file=f"{function.__name__}.ptx")

    def pass_array(self, array: AnyArray, arrays: Arrays) -> list[Raw]:
        """Owner and parent (nobody), length, size of an element, address, shape, strides."""
        index = arrays.add(array)
        used = arrays.used(index)
        numbers = [*used.shape, *used.strides]
        head: list[Raw] = [("int", 0), ("int", 0), ("int", used.size), ("int", used.itemsize)]
        return [*head, ("buffer", index), *(("int", int(n)) for n in numbers)]
