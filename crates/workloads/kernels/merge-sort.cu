// Merge sort of keys with values. Each block first sorts a tile in shared memory with a bitonic
// network, a barrier before each of its 45 steps. Then passes over global memory merge runs of
// tiles: a block makes one tile of the result from the parts of the two runs that belong there, and
// every element finds its place by a binary search in the other part. Equal keys are ordered by
// their values in the network, and by run in the passes: with values that count up, the sort is
// stable.
// flags: -fcuda-short-ptr -mllvm -nvptx-short-ptr
#include "warpsim.cuh"

#define THREADS 256
#define TILE (2 * THREADS)

// How many of the sorted `keys` are below `key` (or, with `equal`, not above it).
static __device__ __forceinline__ u32 rank(const u32 *keys, u32 count, u32 key, bool equal) {
    u32 low = 0, high = count;
    while (low < high) {
        u32 middle = (low + high) / 2;
        u32 there = keys[middle];
        if (there < key || (equal && there == key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

extern "C" __global__ void __launch_bounds__(THREADS, 6)
merge_sort_tile(const u32 *keys_in, const u32 *values_in, u32 *keys_out, u32 *values_out) {
    // Key and value as one number, the key in its upper half.
    __shared__ u64 pair[TILE];
    u32 t = threadIdx.x;
    u32 base = blockIdx.x * TILE;
    for (u32 i = t; i < TILE; i += THREADS)
        pair[i] = (u64)keys_in[base + i] << 32 | values_in[base + i];
#pragma unroll 1
    for (u32 size = 1; size < TILE; size <<= 1) {
        bool descending = t & size & (TILE / 2 - 1);
#pragma unroll 1
        for (u32 stride = size; stride > 0; stride >>= 1) {
            u32 i = 2 * t - (t & (stride - 1));
            __syncthreads();
            u64 low = pair[i], high = pair[i + stride];
            if ((low > high) != descending) {
                pair[i] = high;
                pair[i + stride] = low;
            }
        }
    }
    __syncthreads();
    for (u32 i = t; i < TILE; i += THREADS) {
        keys_out[base + i] = pair[i] >> 32;
        values_out[base + i] = (u32)pair[i];
    }
}

// How many of the first `count` elements of the merged runs come from the first run.
static __device__ __forceinline__ u32 split(const u32 *a, const u32 *b, u32 length_a, u32 length_b,
                                            u32 count) {
    u32 low = count > length_b ? count - length_b : 0;
    u32 high = umin(count, length_a);
    while (low < high) {
        u32 middle = (low + high) / 2;
        if (a[middle] <= b[count - 1 - middle])
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Merges pairs of runs of `run` elements; the last run of `n` elements may be shorter or alone.
extern "C" __global__ void __launch_bounds__(THREADS, 6)
merge_sort_pass(const u32 *keys_in, const u32 *values_in, u32 *keys_out, u32 *values_out, u32 run,
                u32 n) {
    __shared__ u32 key[TILE], value[TILE];
    __shared__ u32 cut[2];
    u32 t = threadIdx.x;
    u32 base = blockIdx.x * TILE;
    u32 first = base / (2 * run) * (2 * run);
    u32 second = umin(first + run, n);
    u32 end = umin(second + run, n);
    // Two threads of different warps look for where the tile begins and ends in the runs.
    if (t == 0 || t == 32)
        cut[t / 32] = split(keys_in + first, keys_in + second, second - first, end - second,
                            base - first + t / 32 * TILE);
    __syncthreads();
    u32 length_a = cut[1] - cut[0];
    u32 from_a = first + cut[0];
    u32 from_b = second + (base - first - cut[0]);
    for (u32 i = t; i < TILE; i += THREADS) {
        u32 from = i < length_a ? from_a + i : from_b + (i - length_a);
        key[i] = keys_in[from];
        value[i] = values_in[from];
    }
    __syncthreads();
    u32 mine[2], with[2], to[2];
    for (u32 k = 0; k < 2; k++) {
        u32 i = t + k * THREADS;
        mine[k] = key[i];
        with[k] = value[i];
        if (i < length_a)
            to[k] = i + rank(key + length_a, TILE - length_a, mine[k], false);
        else
            to[k] = i - length_a + rank(key, length_a, mine[k], true);
    }
    __syncthreads();
    for (u32 k = 0; k < 2; k++) {
        key[to[k]] = mine[k];
        value[to[k]] = with[k];
    }
    __syncthreads();
    for (u32 i = t; i < TILE; i += THREADS) {
        keys_out[base + i] = key[i];
        values_out[base + i] = value[i];
    }
}
