// Sum of unsigned integers. A block first adds strided elements into registers, then halves the
// partial sums in shared memory with a barrier a step; fewer and fewer threads take part, so the
// last steps are divergent. Run again on the partial sums until one is left.
#include "warpsim.cuh"

#define BLOCK 256

extern "C" __global__ void reduction(const u32 *in, u32 *out, u32 n) {
    __shared__ u32 partial[BLOCK];
    u32 t = threadIdx.x;
    u32 stride = gridDim.x * BLOCK;
    u32 sum = 0;
    for (u32 i = blockIdx.x * BLOCK + t; i < n; i += stride)
        sum += in[i];
    partial[t] = sum;
    __syncthreads();
    for (u32 half = BLOCK / 2; half > 0; half >>= 1) {
        if (t < half)
            partial[t] += partial[t + half];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = partial[0];
}
