"""Three kernels in Numba. With `lineinfo=True` its machine code keeps the PTX that it was made of.

pip install numpy 'numba-cuda[cu13]'
warpsim exec -- python numba_kernels.py
"""

import numpy as np
from numba import cuda, float32


@cuda.jit(lineinfo=True)
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


@cuda.jit(lineinfo=True)
def sums(values, out):
    part = cuda.shared.array(128, float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    part[t] = values[i] if i < values.size else 0
    cuda.syncthreads()
    step = 64
    while step > 0:
        if t < step:
            part[t] += part[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        cuda.atomic.add(out, 0, part[0])


@cuda.jit(lineinfo=True)
def blur(image, out):
    row, column = cuda.grid(2)
    if 0 < row < image.shape[0] - 1 and 0 < column < image.shape[1] - 1:
        total = 0.0
        for i in range(-1, 2):
            for j in range(-1, 2):
                total += image[row + i, column + j]
        out[row, column] = total / 9


x = np.arange(1000, dtype=np.float32)
y = cuda.to_device(np.ones(1000, np.float32))
saxpy[8, 128](2.0, x, y)
print("saxpy:", np.array_equal(y.copy_to_host(), 2 * x + 1))

out = np.zeros(1, np.float32)
sums[8, 128](x, out)
print("sums:", out[0])

image = np.random.default_rng(1).random((34, 40), np.float32)
blurred = np.zeros_like(image)
blur[(3, 3), (16, 16)](image, blurred)
near = [np.roll(image.astype(np.float64), (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)]
expected = np.mean(near, axis=0)[1:-1, 1:-1]
print("blur:", np.allclose(blurred[1:-1, 1:-1], expected, atol=1e-6))
