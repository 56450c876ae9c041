"""Softmax, matrix product and layer norm in Triton, without PyTorch: a tensor is any object that knows its address.

pip install triton numpy
warpsim exec -- python triton_kernels.py
"""

import ctypes

import numpy as np
import triton
import triton.language as tl

cuda = ctypes.CDLL("libcuda.so.1")


def check(status):
    assert status == 0, f"the driver says {status}"


class Array:
    """An array on the device."""

    def __init__(self, values):
        self.values, self.dtype = np.ascontiguousarray(values), values.dtype
        address = ctypes.c_uint64()
        check(cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(values.nbytes)))
        self.address = address.value
        source = ctypes.c_void_p(self.values.ctypes.data)
        check(cuda.cuMemcpyHtoD_v2(address, source, ctypes.c_size_t(values.nbytes)))

    def data_ptr(self):
        return self.address

    def back(self):
        check(cuda.cuCtxSynchronize())
        found = np.empty_like(self.values)
        to, bytes = ctypes.c_void_p(found.ctypes.data), ctypes.c_size_t(found.nbytes)
        check(cuda.cuMemcpyDtoH_v2(to, ctypes.c_uint64(self.address), bytes))
        return found


@triton.jit
def softmax(x, out, columns, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    inside = at < columns
    first = tl.program_id(0) * columns
    row = tl.load(x + first + at, mask=inside, other=-float("inf"))
    raised = tl.exp(row - tl.max(row, axis=0))
    tl.store(out + first + at, raised / tl.sum(raised, axis=0), mask=inside)


@triton.jit
def matmul(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    inner = tl.arange(0, K)
    total = tl.zeros((M, N), dtype=tl.float32)
    for start in range(0, k, K):
        at = start + inner
        left = tl.load(a + rows[:, None] * k + at[None, :], mask=(rows[:, None] < m) & (at[None, :] < k), other=0.0)
        right = tl.load(b + at[:, None] * n + columns[None, :], mask=(at[:, None] < k) & (columns[None, :] < n), other=0.0)
        total += tl.dot(left, right)
    inside = (rows[:, None] < m) & (columns[None, :] < n)
    tl.store(c + rows[:, None] * n + columns[None, :], total, mask=inside)


@triton.jit
def layer_norm(x, weight, bias, out, columns, epsilon, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    inside = at < columns
    first = tl.program_id(0) * columns
    row = tl.load(x + first + at, mask=inside, other=0.0)
    mean = tl.sum(row, axis=0) / columns
    apart = tl.where(inside, row - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(apart * apart, axis=0) / columns + epsilon)
    value = apart * scale * tl.load(weight + at, mask=inside) + tl.load(bias + at, mask=inside)
    tl.store(out + first + at, value, mask=inside)


def say(name, found, expected, allowed):
    worst = float(np.abs(found - expected).max())
    print(f"{name}: {found.shape}, within {allowed}: {worst <= allowed}")


random = np.random.default_rng(1)
triton.runtime.driver.active.get_current_device()  # makes a context

x = random.normal(size=(6, 200)).astype(np.float32)
out = Array(np.zeros_like(x))
softmax[(6,)](Array(x), out, 200, BLOCK=256)
raised = np.exp(x - x.max(axis=1, keepdims=True))
say("softmax", out.back(), raised / raised.sum(axis=1, keepdims=True), 1e-6)

m, n, k = 40, 48, 70
a, b = random.normal(size=(m, k)).astype(np.float16), random.normal(size=(k, n)).astype(np.float16)
c = Array(np.zeros((m, n), np.float32))
matmul[(triton.cdiv(m, 32), triton.cdiv(n, 32))](Array(a), Array(b), c, m, n, k, M=32, N=32, K=32)
say("matmul", c.back(), a.astype(np.float32) @ b.astype(np.float32), 1e-3)

weight, bias = random.normal(size=(2, 200)).astype(np.float32)
out = Array(np.zeros_like(x))
layer_norm[(6,)](Array(x), Array(weight), Array(bias), out, 200, 1e-5, BLOCK=256)
apart = x - x.mean(axis=1, keepdims=True)
expected = apart / np.sqrt((apart**2).mean(axis=1, keepdims=True) + 1e-5) * weight + bias
say("layer norm", out.back(), expected, 1e-5)
