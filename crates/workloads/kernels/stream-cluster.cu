// What opening a centre at a candidate point would gain: each thread compares its point's distance
// to the candidate, whose coordinates are in shared memory, with the cost of its present centre. A
// point that would move notes it; one that would not adds what closing its centre would cost.
#include "warpsim.cuh"

#define THREADS 512
#define MOST_DIMENSIONS 256

// Coordinates are stored dimension by dimension. Row p of `lower` belongs to point p and has a place
// for each centre and one, the last, for what the candidate saves.
extern "C" __global__ void __launch_bounds__(THREADS, 2)
stream_cluster(const float *coordinates, const float *weights, const float *costs,
               const u32 *assigned, const u32 *centre_number, u32 *moves, float *lower, u32 count,
               u32 dimensions, u32 candidate, u32 centres) {
    __shared__ float there[MOST_DIMENSIONS];
    u32 p = blockIdx.x * THREADS + threadIdx.x;
    if (threadIdx.x == 0)
        for (u32 d = 0; d < dimensions; d++)
            there[d] = coordinates[d * count + candidate];
    __syncthreads();
    if (p >= count)
        return;
    float distance = 0.0f;
    for (u32 d = 0; d < dimensions; d++) {
        float difference = coordinates[d * count + p] - there[d];
        distance = fmaf(difference, difference, distance);
    }
    float cost = distance * weights[p];
    float present = costs[p];
    float *row = lower + p * (centres + 1);
    if (cost < present) {
        moves[p] = 1;
        row[centres] = cost - present;
    } else
        row[centre_number[assigned[p]]] += present - cost;
}
