"""The softmax of each row, and how its PTX, its input and its expected output came to be: Triton needs no GPU
to compile. `pip install triton numpy`, then `python softmax.py` writes all three anew."""

import numpy as np
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def softmax(x, out, columns, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    inside = at < columns
    first = tl.program_id(0) * columns
    row = tl.load(x + first + at, mask=inside, other=-float("inf"))
    raised = tl.exp(row - tl.max(row, axis=0))
    tl.store(out + first + at, raised / tl.sum(raised, axis=0), mask=inside)


kinds = {"x": "*fp32", "out": "*fp32", "columns": "i32", "BLOCK": "constexpr"}
source = ASTSource(fn=softmax, signature=kinds, constexprs={"BLOCK": 256})
compiled = triton.compile(source, target=GPUTarget("cuda", 80, 32), options={"num_warps": 4})
# What the launch file says: the block is 32 threads for each warp, and so much is shared memory.
print(compiled.metadata.num_warps, "warps,", compiled.metadata.shared, "bytes of shared memory")
# Debugging sections name folders of this machine, and say nothing to a simulator.
lines = [line for line in compiled.asm["ptx"].split("\t.section")[0].splitlines() if ".file" not in line]
text = "\n".join(lines) + '\n.file 1 "softmax.py"\n'
with open("softmax.ptx", "w") as file:
    file.write(text)

x = np.random.default_rng(1).normal(size=(8, 200)).astype(np.float32)
raised = np.exp(x - x.max(axis=1, keepdims=True))
np.save("x.npy", x)
np.save("expected.npy", (raised / raised.sum(axis=1, keepdims=True)).astype(np.float32))
