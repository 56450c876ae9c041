// Tiled matrix multiply C = A * B of row-major n x n matrices, n a multiple of the tile. A block
// computes one tile of C; each step loads a tile of A and one of B into shared memory, with a
// barrier before they are used and one before they are overwritten.
#include "warpsim.cuh"

#define TILE 16

extern "C" __global__ void __launch_bounds__(TILE *TILE, 6)
matmul(const float *a, const float *b, float *c, u32 n) {
    __shared__ float ta[TILE][TILE];
    __shared__ float tb[TILE][TILE];
    u32 x = threadIdx.x, y = threadIdx.y;
    u32 row = blockIdx.y * TILE + y;
    u32 column = blockIdx.x * TILE + x;
    float sum = 0.0f;
    for (u32 t = 0; t < n; t += TILE) {
        ta[y][x] = a[row * n + t + x];
        tb[y][x] = b[(t + y) * n + column];
        __syncthreads();
#pragma unroll
        for (u32 k = 0; k < TILE; k++)
            sum = fmaf(ta[y][k], tb[k][x], sum);
        __syncthreads();
    }
    c[row * n + column] = sum;
}
