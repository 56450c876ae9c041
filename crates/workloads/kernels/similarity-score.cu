// Pairs of similar documents, most similar first. One round of MapReduce: the map computes the cosine
// of the angle between the term vectors of two documents, staged in shared memory 16 terms of 16
// documents at a time between barriers; pairs above a threshold are emitted with the score as the key
// and sorted. A job compares its new documents with as many stored ones, a block 16 with 16.
// flags: -fcuda-short-ptr -mllvm -nvptx-short-ptr
#include "warpsim.cuh"
#define SORT_UNROLL 8
#include "mapreduce.cuh"

#define SIDE 16

// A record is the complement of the score in per cent, so that the highest comes first; both documents;
// and the score. Pairs of the same score are in the order of their documents.
static __device__ __forceinline__ bool before(const u8 *, uint4 a, uint4 b) {
    return a.y != b.y ? a.y < b.y : a.z < b.z;
}

// Documents of a block: `across` blocks lie beside each other in a job.
struct Pair {
    u32 fresh, stored;
};
static __device__ __forceinline__ Pair pair_of(u32 across) {
    u32 job = blockIdx.x / (across * across), tile = blockIdx.x % (across * across);
    u32 x = threadIdx.x % SIDE, y = threadIdx.x / SIDE, documents = across * SIDE;
    return {job * documents + tile / across * SIDE + y, job * documents + tile % across * SIDE + x};
}

extern "C" __global__ void __launch_bounds__(THREADS, 6)
map_count(const float *fresh, const float *stored, u32 *counts, u32 *scores, u32 terms,
          u32 across, u32 threshold) {
    __shared__ float a[SIDE][SIDE + 1], b[SIDE][SIDE + 1];
    u32 x = threadIdx.x % SIDE, y = threadIdx.x / SIDE;
    Pair pair = pair_of(across);
    const float *mine = fresh + pair.fresh * terms + x;
    const float *theirs = stored + (pair.stored - x + y) * terms + x;
    float both = 0.0f, first = 0.0f, second = 0.0f;
    for (u32 base = 0; base < terms; base += SIDE) {
        a[y][x] = mine[base];
        b[y][x] = theirs[base];
        __syncthreads();
#pragma unroll
        for (u32 k = 0; k < SIDE; k++) {
            both = fmaf(a[y][k], b[x][k], both);
            first = fmaf(a[y][k], a[y][k], first);
            second = fmaf(b[x][k], b[x][k], second);
        }
        __syncthreads();
    }
    u32 score = (u32)(100.0f * (both / sqrtf(first * second)));
    u32 i = blockIdx.x * THREADS + threadIdx.x;
    scores[i] = score;
    counts[i] = score >= threshold;
}

extern "C" __global__ void __launch_bounds__(THREADS, 6)
map_emit(const u32 *scores, const u32 *places, uint4 *records, u32 job, u32 across,
         u32 threshold) {
    u32 i = blockIdx.x * THREADS + threadIdx.x;
    u32 score = scores[i];
    if (score >= threshold) {
        Pair pair = pair_of(across);
        records[place_in_job(places, i, job)] = {~score, pair.fresh, pair.stored, score};
    }
}
