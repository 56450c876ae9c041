// Angular correlation of galaxies: for all pairs of two sets of directions the angle between them, as
// a histogram. A block takes the first set's directions through shared memory, 256 at a time between barriers,
// against those of the second; every thread finds the bin of a pair by binary search over the bins' edges
// in constant memory and counts it in shared memory; at the end the block adds up its histograms.
#include "warpsim.cuh"

#define THREADS 256
#define BINS 20
#define COPIES 128
#define WIDTH (THREADS / 2)

// Cosines of the bins' edges, falling: bin b holds cosines from edges[b + 1] up to edges[b].
__constant__ float edges[BINS + 1];

// Set 0 is the observed one, the others are random ones of the same size. Block 0 pairs the observed
// with itself; then one block for each random set with itself, and one for each with the observed.
extern "C" __global__ void __launch_bounds__(THREADS, 3)
gen_hists(const float *x, const float *y, const float *z, u32 *histograms, u32 sets, u32 size) {
    // Every other thread has a copy of its own: few atomics meet.
    __shared__ u32 histogram[BINS][COPIES];
    __shared__ float3 tile[THREADS];
    u32 t = threadIdx.x;
    u32 first = blockIdx.x <= sets ? blockIdx.x : 0;
    u32 second = blockIdx.x <= sets ? blockIdx.x : blockIdx.x - sets;
    bool same = first == second;
    for (u32 i = t; i < BINS * COPIES; i += THREADS)
        histogram[0][i] = 0;
    for (u32 base = 0; base < size; base += THREADS) {
        __syncthreads();
        u32 from = first * size + base + t;
        if (base + t < size)
            tile[t] = {x[from], y[from], z[from]};
        __syncthreads();
        u32 tiled = umin(THREADS, size - base);
        // Two threads share a direction of the second set: one takes the even pairs, one the odd.
        for (u32 j = t % WIDTH; j < size; j += WIDTH) {
            u32 at = second * size + j;
            float mx = x[at], my = y[at], mz = z[at];
            // Of a set with itself every pair counts once.
            u32 end = same ? (j > base ? umin(tiled, j - base) : 0) : tiled;
            for (u32 k = t / WIDTH; k < end; k += 2) {
                float3 o = tile[k];
                float cosine = fmaf(mz, o.z, fmaf(mx, o.x, my * o.y));
                u32 low = 0, high = BINS;
                while (high > low + 1) {
                    u32 middle = (low + high) / 2;
                    if (cosine >= edges[middle])
                        high = middle;
                    else
                        low = middle;
                }
                atomicAdd(&histogram[low][t % COPIES], 1u);
            }
        }
    }
    // Halves are added together until one copy is left.
    for (u32 half = COPIES / 2; half > 0; half >>= 1) {
        __syncthreads();
        for (u32 i = t; i < BINS * half; i += THREADS)
            histogram[i / half][i % half] += histogram[i / half][i % half + half];
    }
    __syncthreads();
    if (t < BINS)
        histograms[blockIdx.x * BINS + t] = histogram[t][0];
}
