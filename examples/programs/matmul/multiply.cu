#include "matrix.h"

// Each block computes a tile of the product; tiles of both factors go through shared memory.
template <typename T, int TILE>
__global__ void tiled(Matrix<T> a, Matrix<T> b, Matrix<T> c) {
    __shared__ T left[TILE][TILE];
    __shared__ T right[TILE][TILE + 1];
    int row = blockIdx.y * TILE + threadIdx.y;
    int column = blockIdx.x * TILE + threadIdx.x;
    T sum = 0;
    for (int start = 0; start < a.columns; start += TILE) {
        int k = start + threadIdx.x;
        left[threadIdx.y][threadIdx.x] = row < a.rows && k < a.columns ? a.values[row * a.columns + k] : T(0);
        k = start + threadIdx.y;
        right[threadIdx.y][threadIdx.x] = k < b.rows && column < b.columns ? b.values[k * b.columns + column] : T(0);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < TILE; i++) sum += left[threadIdx.y][i] * right[i][threadIdx.x];
        __syncthreads();
    }
    if (row < c.rows && column < c.columns) c.values[row * c.columns + column] = sum;
}

template <typename T, int TILE>
void multiply(Matrix<T> a, Matrix<T> b, Matrix<T> c) {
    dim3 block(TILE, TILE);
    dim3 grid((c.columns + TILE - 1) / TILE, (c.rows + TILE - 1) / TILE);
    tiled<T, TILE><<<grid, block>>>(a, b, c);
}

template void multiply<float, 16>(Matrix<float>, Matrix<float>, Matrix<float>);
template void multiply<double, 8>(Matrix<double>, Matrix<double>, Matrix<double>);
template void multiply<int, 32>(Matrix<int>, Matrix<int>, Matrix<int>);
