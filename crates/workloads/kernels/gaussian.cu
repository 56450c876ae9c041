// Gaussian elimination, two kernels per row: the first computes by what multiple of the row each row
// below it changes (a thread per row, blocks of 512), the second changes them (a thread per element,
// blocks of 4x4, half a warp). Both are launched for the whole matrix, so that ever more threads have
// nothing to do.
#include "warpsim.cuh"

extern "C" __global__ void __launch_bounds__(512)
gaussian_multiples(float *multiples, const float *matrix, int n, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n - 1 - k)
        return;
    int row = i + k + 1;
    multiples[row * n + k] = matrix[row * n + k] / matrix[k * n + k];
}

extern "C" __global__ void __launch_bounds__(16)
gaussian_eliminate(const float *multiples, float *matrix, float *right_side, int n, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n - 1 - k || j >= n - k)
        return;
    int row = i + k + 1, column = j + k;
    float multiple = multiples[row * n + k];
    matrix[row * n + column] -= multiple * matrix[k * n + column];
    if (j == 0)
        right_side[row] -= multiple * right_side[k];
}
