"""Kernels that others compile: Numba, Triton, clang."""

from __future__ import annotations

import numpy as np
import pytest
import warpsim


def test_numba_kernels_get_their_own_arrays() -> None:
    cuda = pytest.importorskip("numba.cuda")
    pytest.importorskip("numba_cuda", reason="needs numba-cuda with NVVM")

    def scale(a, x, y):  # type: ignore[no-untyped-def]
        row, column = cuda.grid(2)
        if row < x.shape[0] and column < x.shape[1]:
            y[row, column] = a * x[row, column] + y[row, column]

    kernel = warpsim.Kernel.from_numba(scale, "void(float32, float32[:, :], float64[:, :])")
    x = np.arange(30 * 50, dtype=np.float32).reshape(30, 50)
    for order in ("C", "F"):
        y = np.ones((30, 50), np.float64, order=order)
        expected = 0.5 * x + y
        result = warpsim.run(kernel, (2, 4), (16, 16), [0.5, x, y])
        np.testing.assert_array_equal(y, expected)
        assert result.cycles > 0
    # A view with strides, there and back.
    y = np.ones((30, 100), np.float64)
    warpsim.run(kernel, (2, 4), (16, 16), [0.5, x, y[:, ::2]])
    np.testing.assert_array_equal(y[:, ::2], 0.5 * x + 1)
    assert (y[:, 1::2] == 1).all()
    with pytest.raises(warpsim.BadInput, match="void return type"):
        warpsim.Kernel.from_numba(lambda n: n + 1, "int32(int32)")


def test_triton_kernels() -> None:
    pytest.importorskip("triton")
    import triton_kernels as kernels

    n = 1000
    x, y = np.random.default_rng(1).random((2, n), np.float32)
    out = np.zeros(n, np.float32)
    pointers = {"x": "*fp32", "y": "*fp32", "out": "*fp32"}
    add = warpsim.Kernel.from_triton(kernels.add, {**pointers, "n": "i32"}, {"BLOCK": 256})
    assert add.required_block == [128, 1, 1]
    warpsim.run(add, grid=4, args=[x, y, out, n])
    np.testing.assert_array_equal(out, x + y)
    # Reductions take shuffles and shared memory.
    rows = np.random.default_rng(2).normal(size=(8, 200)).astype(np.float32)
    result = np.zeros_like(rows)
    softmax = warpsim.Kernel.from_triton(kernels.softmax, {"x": "*fp32", "out": "*fp32", "columns": "i32"}, {"BLOCK": 256})
    assert softmax.shared > 0
    warpsim.run(softmax, grid=8, args=[rows, result, 200])
    expected = np.exp(rows - rows.max(axis=1, keepdims=True))
    np.testing.assert_allclose(result, expected / expected.sum(axis=1, keepdims=True), rtol=1e-5)
    with pytest.raises(warpsim.BadInput, match="neither signature nor constants have n, BLOCK"):
        warpsim.Kernel.from_triton(kernels.add, pointers)


def test_cuda_source() -> None:
    source = 'extern "C" __global__ void twice(float *x) { x[threadIdx.x] = fmaxf(2.0f * x[threadIdx.x], 1.0f); }\n'
    try:
        kernel = warpsim.Kernel.from_cuda(source)
    except warpsim.BadInput as error:
        # Whatever the command line would compile with is tried; without any it says what to install.
        assert "install clang" in str(error)
        pytest.skip(str(error))
    assert kernel.ptx == warpsim.Kernel.from_cuda(source).ptx
    x = np.arange(32, dtype=np.float32)
    result = warpsim.run(kernel, 1, 32, [x], profile=True)
    assert "kernel.cu:1" in {row["source"] for row in result.rows("profile")}
    np.testing.assert_array_equal(x, np.maximum(2 * np.arange(32), 1))
