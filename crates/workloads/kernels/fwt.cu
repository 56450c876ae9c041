// Fast Walsh-Hadamard transforms in natural order, in place. Levels with strides above a segment's
// length work in global memory, two at a time (radix 4); the rest is done segment by segment in
// shared memory with a barrier before each pair of levels.
// flags: -fcuda-short-ptr -mllvm -nvptx-short-ptr
#include "warpsim.cuh"

#define SEGMENT_MAX 2048

// Two levels at once over the four elements at a distance of `stride` from each other.
static __device__ __forceinline__ void butterfly4(float *d, u32 at, u32 stride) {
    u32 at1 = at + stride, at2 = at1 + stride, at3 = at2 + stride;
    float d0 = d[at], d1 = d[at1], d2 = d[at2], d3 = d[at3];
    float even = d0 + d2, odd = d1 + d3;
    d[at] = even + odd;
    d[at1] = even - odd;
    even = d0 - d2;
    odd = d1 - d3;
    d[at2] = even + odd;
    d[at3] = even - odd;
}

// A block transforms one segment of 2^levels elements with a quarter as many threads.
extern "C" __global__ void __launch_bounds__(SEGMENT_MAX / 4, 3)
fwt_shared(float *data, u32 levels) {
    __shared__ float segment[SEGMENT_MAX];
    u32 length = 1u << levels;
    float *mine = data + (blockIdx.x << levels);
    u32 t = threadIdx.x;
    for (u32 i = t; i < length; i += blockDim.x)
        segment[i] = mine[i];
    for (u32 stride = length >> 2; stride > 0; stride >>= 2) {
        u32 low = t & (stride - 1);
        __syncthreads();
        butterfly4(segment, ((t - low) << 2) + low, stride);
    }
    // Of an odd number of levels, one is left.
    if (levels & 1) {
        __syncthreads();
        for (u32 i = t; i < length / 2; i += blockDim.x) {
            float d0 = segment[2 * i], d1 = segment[2 * i + 1];
            segment[2 * i] = d0 + d1;
            segment[2 * i + 1] = d0 - d1;
        }
    }
    __syncthreads();
    for (u32 i = t; i < length; i += blockDim.x)
        mine[i] = segment[i];
}

// One thread for four elements; their number is a multiple of the block's threads.
extern "C" __global__ void fwt_global(float *data, u32 stride) {
    u32 t = blockIdx.x * blockDim.x + threadIdx.x;
    u32 low = t & (stride - 1);
    butterfly4(data, ((t - low) << 2) + low, stride);
}
