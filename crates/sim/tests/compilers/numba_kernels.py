"""The kernels that Numba is given: the same as in kernels.cu, as far as Python has them."""

from numba import cuda, int32


def affine(inp, out, n):
    i = cuda.grid(1)
    if i < n:
        out[i] = int32(inp[i] * int32(7) - int32(3))


def collatz(inp, out, n):
    i = cuda.grid(1)
    if i < n:
        x = (inp[i] & 1023) + 1
        steps = 0
        while x != 1:
            if x % 2:
                x = 3 * x + 1
            else:
                x = x // 2
            steps += 1
            if steps > 60:
                break
        out[i] = steps * 1000 + x % 1000


def reduce(inp, out, n):
    part = cuda.shared.array(256, int32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t] = inp[i] if i < n else 0
    cuda.syncthreads()
    step = cuda.blockDim.x // 2
    while step > 0:
        if t < step:
            part[t] += part[t + step]
        cuda.syncthreads()
        step //= 2
    if i < n:
        out[i] = part[0] + t


KERNELS = [affine, collatz, reduce]
