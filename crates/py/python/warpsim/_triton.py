"""Kernels that Triton compiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ._arrays import Arrays
from ._errors import BadInput
from ._kernel import Kernel, Raw


class TritonKernel(Kernel):
    """A kernel with Triton's parameters: what is no constant, and two addresses of scratch memory."""

    @classmethod
    def compiled(
        cls,
        function: Any,
        signature: Mapping[str, str],
        constants: Mapping[str, Any],
        arch: int,
        options: Mapping[str, int],
    ) -> TritonKernel:
        try:
            import triton
            from triton.backends.compiler import GPUTarget
            from triton.compiler import ASTSource
        except ImportError as error:
            raise BadInput(f"Triton is not to be had ({error}): pip install 'warpsim[triton]'") from None
        # In the order of the function's parameters, as Triton wants them.
        kinds = {name: "constexpr" if name in constants else signature.get(name) for name in function.arg_names}
        unknown = [name for name, kind in kinds.items() if kind is None]
        if unknown:
            raise BadInput(f"{function.__name__}: neither signature nor constants have {', '.join(unknown)}")
        source = ASTSource(fn=function, signature=kinds, constexprs=dict(constants))
        compiled = triton.compile(source, target=GPUTarget("cuda", arch, 32), options=dict(options))
        metadata = compiled.metadata
        if getattr(metadata, "global_scratch_size", 0):
            raise BadInput(f"{metadata.name} needs scratch memory in global memory, which is not there")
        kernel = cls(compiled.asm["ptx"], metadata.name, file=f"{metadata.name}.ptx")
        kernel.shared = int(metadata.shared)
        return kernel

    def pass_arguments(self, args: Sequence[Any], arrays: Arrays) -> list[Raw]:
        given = super().pass_arguments(args, arrays)
        scratch = [p for p in self.parameters[len(given) :] if p.size == 8][-2:]
        return given + [("int", 0)] * len(scratch)
