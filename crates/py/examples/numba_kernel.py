"""A Numba kernel on its own arrays, with where its warps wait."""

import numpy as np
import warpsim
from numba import cuda


def blur(image, out):
    row, column = cuda.grid(2)
    if 0 < row < image.shape[0] - 1 and 0 < column < image.shape[1] - 1:
        total = 0.0
        for i in range(-1, 2):
            for j in range(-1, 2):
                total += image[row + i, column + j]
        out[row, column] = total / 9


kernel = warpsim.Kernel.from_numba(blur, "void(float32[:, ::1], float32[:, ::1])")
image = np.random.default_rng(1).random((96, 128), np.float32)
out = np.zeros_like(image)
result = warpsim.run(kernel, grid=(6, 8), block=(16, 16), args=[image, out], profile=True)

shifted = [np.roll(image, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)]
assert np.allclose(out[1:-1, 1:-1], np.mean(shifted, axis=0)[1:-1, 1:-1], atol=1e-6)
print(result)
profile = result.to_pandas("profile")
print(profile.nlargest(5, "waited.data_memory")[["line", "instruction", "issues", "waited.data_memory"]])
