"""Elementwise operations, reductions and a kernel of one's own in CuPy, which keeps PTX if it is asked to.

pip install cupy-cuda13x
CUPY_COMPILE_WITH_PTX=1 warpsim exec -- python cupy_kernels.py
"""

import cupy as cp

x = cp.arange(1000, dtype=cp.float32)
y = cp.sqrt(x) * 2 + 1
print("elementwise:", float(y[0]), float(y[100]), float(y[900]))
print("reductions:", float(x.sum()), float(x.max()), int(x.argmax()))

squared = cp.ElementwiseKernel("float32 x, float32 y", "float32 z", "z = (x - y) * (x - y)", "squared")
print("a kernel by element:", float(squared(x, x - 3).sum()))

saxpy = cp.RawKernel(
    r"""
extern "C" __global__ void saxpy(float a, const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
""",
    "saxpy",
)
out = cp.ones(1000, dtype=cp.float32)
saxpy((8,), (128,), (cp.float32(2), x, out, cp.int32(1000)))
print("a kernel of one's own:", float(out[0]), float(out[999]))
