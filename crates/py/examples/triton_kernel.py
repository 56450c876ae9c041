"""A Triton kernel: a softmax of each row."""

import numpy as np
import triton
import triton.language as tl
import warpsim


@triton.jit
def softmax(x, out, columns, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    inside = at < columns
    first = tl.program_id(0) * columns
    row = tl.load(x + first + at, mask=inside, other=-float("inf"))
    raised = tl.exp(row - tl.max(row, axis=0))
    tl.store(out + first + at, raised / tl.sum(raised, axis=0), mask=inside)


kernel = warpsim.Kernel.from_triton(softmax, {"x": "*fp32", "out": "*fp32", "columns": "i32"}, {"BLOCK": 256})
x = np.random.default_rng(1).normal(size=(64, 200)).astype(np.float32)
out = np.zeros_like(x)
result = warpsim.run(kernel, grid=64, args=[x, out, 200])

assert np.allclose(out.sum(axis=1), 1, atol=1e-5)
print(result)
