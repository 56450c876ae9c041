"""A blur, and how its PTX, its input and its expected output came to be: Numba needs no GPU to compile.
`pip install numba 'numba-cuda[cu12]'`, then `python blur.py` writes all three anew."""

import numpy as np
from numba import cuda
from numba.core import sigutils


def blur(image, out):
    row, column = cuda.grid(2)
    if 0 < row < image.shape[0] - 1 and 0 < column < image.shape[1] - 1:
        total = 0.0
        for i in range(-1, 2):
            for j in range(-1, 2):
                total += image[row + i, column + j]
        out[row, column] = total / 9


# C order (`::1`): without it strides are read too, and the code is longer.
types, _ = sigutils.normalize_signature("void(float32[:, ::1], float32[:, ::1])")
ptx, _ = cuda.compile_ptx(blur, types, device=False, cc=(8, 0))
with open("blur.ptx", "w") as file:
    file.write(ptx.replace("\0", ""))

image = np.random.default_rng(1).random((34, 40), np.float32)
near = [np.roll(image.astype(np.float64), (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)]
expected = np.zeros_like(image)
expected[1:-1, 1:-1] = np.mean(near, axis=0)[1:-1, 1:-1]
np.save("image.npy", image)
np.save("expected.npy", expected)
