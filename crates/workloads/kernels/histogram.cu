// Histogram of bytes into 256 bins. Each block counts its share in shared memory with atomics and
// adds the result to the global bins. Barriers separate clearing, counting and merging.
#include "warpsim.cuh"

#define BINS 256

extern "C" __global__ void histogram(const u32 *data, u32 *bins, u32 words) {
    __shared__ u32 local[BINS];
    u32 t = threadIdx.x;
    for (u32 b = t; b < BINS; b += blockDim.x)
        local[b] = 0;
    __syncthreads();
    u32 stride = gridDim.x * blockDim.x;
    for (u32 i = blockIdx.x * blockDim.x + t; i < words; i += stride) {
        u32 word = data[i];
        atomicAdd(&local[word & 255], 1u);
        atomicAdd(&local[(word >> 8) & 255], 1u);
        atomicAdd(&local[(word >> 16) & 255], 1u);
        atomicAdd(&local[word >> 24], 1u);
    }
    __syncthreads();
    for (u32 b = t; b < BINS; b += blockDim.x)
        if (local[b])
            atomicAdd(&bins[b], local[b]);
}
