// Block reduction, shared and dynamic shared memory, atomics, warp shuffles.
#include "device.h"

extern __shared__ float dynamic[];
__device__ unsigned counter;

__device__ __attribute__((noinline)) float combine(float a, float b) { return a * 0.5f + b; }

__global__ void __launch_bounds__(256, 2) reduce(const float *in, float *out, int n) {
    __shared__ float buffer[256];
    unsigned tid = threadIdx_x, i = blockIdx_x * blockDim_x + tid;
    float sum = 0;
    for (; i < (unsigned)n; i += blockDim_x * gridDim_x)
        sum = combine(sum, in[i]);
    buffer[tid] = sum;
    __syncthreads();
    for (unsigned s = blockDim_x / 2; s > 0; s >>= 1) {
        if (tid < s)
            buffer[tid] += buffer[tid + s];
        __syncthreads();
    }
    if (tid == 0) {
        out[blockIdx_x] = buffer[0] + dynamic[0];
        __nvvm_atom_add_gen_i((int *)&counter, 1);
    }
}

__global__ void histogram(const unsigned char *data, unsigned *bins, int n) {
    unsigned i = blockIdx_x * blockDim_x + threadIdx_x;
    if (i >= (unsigned)n)
        return;
    unsigned old = bins[data[i]], assumed;
    do {
        assumed = old;
        old = __nvvm_atom_cas_gen_i((int *)&bins[data[i]], (int)assumed, (int)(assumed + 1));
    } while (assumed != old);
}
