"""The kernels that Triton is given: blocks of 64 elements."""

import triton
import triton.language as tl


@triton.jit
def affine(inp, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(inp + i, mask=i < n, other=0)
    tl.store(out + i, x * 7 - 3, mask=i < n)


@triton.jit
def reduce(inp, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(inp + i, mask=i < n, other=0)
    total = tl.sum(x, axis=0)
    tl.store(out + i, total + tl.arange(0, BLOCK), mask=i < n)


KERNELS = [affine, reduce]
