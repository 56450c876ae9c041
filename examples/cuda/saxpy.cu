// y = a * x + y, compiled by clang when the launch file runs: no CUDA installation.
#include "warpsim.cuh"

extern "C" __global__ void saxpy(float a, const float *x, float *y, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = fmaf(a, x[i], y[i]);
}
