// LU decomposition of a matrix in place, by tiles of 16x16. Per diagonal tile three kernels: one block
// of 16 threads decomposes the tile itself, blocks of 32 threads the tiles right of it and below it
// (half of a block's threads each), and blocks of 16x16 threads take the product of both off the rest.
#include "warpsim.cuh"

#define SIDE 16

// A row of the tile per thread.
extern "C" __global__ void __launch_bounds__(SIDE) lud_diagonal(float *matrix, int n, int first) {
    __shared__ float tile[SIDE][SIDE];
    int t = threadIdx.x;
    float *corner = matrix + first * n + first;
    for (int row = 0; row < SIDE; row++)
        tile[row][t] = corner[row * n + t];
    __syncthreads();
#pragma unroll 1
    for (int k = 0; k < SIDE - 1; k++) {
        if (t > k) {
            float factor = tile[t][k] / tile[k][k];
            tile[t][k] = factor;
            for (int j = k + 1; j < SIDE; j++)
                tile[t][j] -= factor * tile[k][j];
        }
        __syncthreads();
    }
    for (int row = 1; row < SIDE; row++)
        corner[row * n + t] = tile[row][t];
}

// Block b takes the tile b + 1 to the right of the diagonal tile and the one as far below it.
extern "C" __global__ void __launch_bounds__(2 * SIDE) lud_perimeter(float *matrix, int n, int first) {
    __shared__ float diagonal[SIDE][SIDE], right[SIDE][SIDE], below[SIDE][SIDE];
    int t = threadIdx.x % SIDE;
    bool second = threadIdx.x >= SIDE;
    int other = first + ((int)blockIdx.x + 1) * SIDE;
    const float *corner = matrix + first * n + first;
    float *to_right = matrix + first * n + other, *to_below = matrix + other * n + first;
    // Either half loads half of the diagonal tile and one of the others.
    if (!second) {
        for (int row = 0; row < SIDE / 2; row++)
            diagonal[row][t] = corner[row * n + t];
        for (int row = 0; row < SIDE; row++)
            right[row][t] = to_right[row * n + t];
    } else {
        for (int row = SIDE / 2; row < SIDE; row++)
            diagonal[row][t] = corner[row * n + t];
        for (int row = 0; row < SIDE; row++)
            below[row][t] = to_below[row * n + t];
    }
    __syncthreads();
    if (!second) {
        // A column of the tile on the right: forward substitution.
#pragma unroll 1
        for (int i = 1; i < SIDE; i++) {
            float value = right[i][t];
#pragma unroll 4
            for (int j = 0; j < i; j++)
                value -= diagonal[i][j] * right[j][t];
            right[i][t] = value;
        }
    } else {
        // A row of the tile below.
#pragma unroll 1
        for (int i = 0; i < SIDE; i++) {
            float value = below[t][i];
#pragma unroll 4
            for (int j = 0; j < i; j++)
                value -= below[t][j] * diagonal[j][i];
            below[t][i] = value / diagonal[i][i];
        }
    }
    __syncthreads();
    if (!second) {
        for (int row = 1; row < SIDE; row++)
            to_right[row * n + t] = right[row][t];
    } else {
        for (int row = 0; row < SIDE; row++)
            to_below[row * n + t] = below[row][t];
    }
}

extern "C" __global__ void __launch_bounds__(SIDE *SIDE) lud_internal(float *matrix, int n, int first) {
    __shared__ float right[SIDE][SIDE], below[SIDE][SIDE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = first + ((int)blockIdx.y + 1) * SIDE, column = first + ((int)blockIdx.x + 1) * SIDE;
    right[ty][tx] = matrix[(first + ty) * n + column + tx];
    below[ty][tx] = matrix[(row + ty) * n + first + tx];
    __syncthreads();
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < SIDE; i++)
        sum += below[ty][i] * right[i][tx];
    matrix[(row + ty) * n + column + tx] -= sum;
}
