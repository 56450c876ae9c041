// Dot products of pairs of vectors. Blocks stride over the pairs. Each thread adds the products of
// every PARTS-th element into partial sums in shared memory, which a tree then adds up with a
// barrier before each of its levels: half of the threads have nothing to do at each further level
// and wait for the others at the next barrier.
#include "warpsim.cuh"

#define PARTS 1024
#define THREADS 512

extern "C" __global__ void __launch_bounds__(THREADS, 3)
scalar_product(const float *a, const float *b, float *products, u32 pairs, u32 length) {
    __shared__ float part[PARTS];
    for (u32 pair = blockIdx.x; pair < pairs; pair += gridDim.x) {
        u32 begin = pair * length, end = begin + length;
        for (u32 p = threadIdx.x; p < PARTS; p += THREADS) {
            float sum = 0.0f;
            for (u32 i = begin + p; i < end; i += PARTS)
                sum = fmaf(a[i], b[i], sum);
            part[p] = sum;
        }
#pragma unroll 1
        for (u32 half = PARTS / 2; half > 0; half >>= 1) {
            __syncthreads();
            for (u32 p = threadIdx.x; p < half; p += THREADS)
                part[p] += part[p + half];
        }
        if (threadIdx.x == 0)
            products[pair] = part[0];
        // Nobody may overwrite part[1] for the next pair before the first thread has added it.
        __syncthreads();
    }
}
