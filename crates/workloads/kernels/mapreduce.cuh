// MapReduce on a GPU in the manner of Mars: a pass that counts what each input will emit, a prefix sum
// that says where it goes, a pass that emits without atomics, a bitonic sort that brings records of
// equal keys together, and a pass over the groups (groups.cuh). One thread per record and 256 per block
// everywhere.
//
// The input is many jobs of `job` records each, a power of two and at least a tile; each job is sorted
// by itself. What a job does not fill is padding, which sorts last.
#pragma once

#define THREADS 256
#define PADDING 0xffffffffu

// A record: x is the number it is sorted by first, PADDING in none that holds something; y, z and w
// are the workload's.

// How often the workload wants the outer loop of a tile's sort unrolled (SORT_UNROLL): so that its code is
// larger than the instruction cache, as the original's is.

// The workload's order of records with the same first number, total over all but padding.
static __device__ __forceinline__ bool before(const u8 *data, uint4 a, uint4 b);

// Sum of `value` over the threads before this one, and over all, with a barrier for each level.
static __device__ __forceinline__ u32 scan_block(u32 value, u32 scratch[2][THREADS], u32 *total) {
    u32 t = threadIdx.x, side = 0, sum = value;
    scratch[0][t] = sum;
    __syncthreads();
#pragma unroll
    for (u32 distance = 1; distance < THREADS; distance <<= 1) {
        if (t >= distance)
            sum += scratch[side][t - distance];
        side ^= 1;
        scratch[side][t] = sum;
        __syncthreads();
    }
    *total = scratch[side][THREADS - 1];
    __syncthreads();
    return sum - value;
}

// The sums of the counts before each, by tile; the tiles' sums; and both together.
extern "C" __global__ void __launch_bounds__(THREADS, 6)
scan_tiles(const u32 *counts, u32 *places, u32 *sums) {
    __shared__ u32 scratch[2][THREADS];
    u32 i = blockIdx.x * THREADS + threadIdx.x, total;
    places[i] = scan_block(counts[i], scratch, &total);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = total;
}

extern "C" __global__ void __launch_bounds__(THREADS, 6) scan_sums(u32 *sums, u32 tiles) {
    __shared__ u32 scratch[2][THREADS];
    u32 carry = 0;
    for (u32 base = 0; base < tiles; base += THREADS) {
        u32 i = base + threadIdx.x, total;
        u32 sum = scan_block(i < tiles ? sums[i] : 0, scratch, &total);
        if (i < tiles)
            sums[i] = carry + sum;
        carry += total;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 6) scan_add(u32 *places, const u32 *sums) {
    places[blockIdx.x * THREADS + threadIdx.x] += sums[blockIdx.x];
}

// Where what record `i` emits goes: behind what those before it in its job emit.
static __device__ __forceinline__ u32 place_in_job(const u32 *places, u32 i, u32 job) {
    u32 first = i & ~(job - 1);
    return first + places[i] - places[first];
}

// One comparison of the network: the lower thread of the pair orders both of its records. Padding is
// above everything else.
static __device__ __forceinline__ void exchange(const u8 *data, uint4 *records, u32 low, u32 high,
                                                bool ascending) {
    uint4 a = records[low], b = records[high];
    bool wrong;
    if (a.x != b.x)
        wrong = b.x < a.x;
    else
        wrong = a.x != PADDING && before(data, b, a);
    if (wrong == ascending && (a.x != PADDING || b.x != PADDING)) {
        records[low] = b;
        records[high] = a;
    }
}

// Sorts every tile of a block's size, up and down in turn, all in shared memory.
extern "C" __global__ void __launch_bounds__(THREADS, 6)
sort_tiles(const u8 *data, uint4 *records, u32 job) {
    __shared__ uint4 tile[THREADS];
    u32 t = threadIdx.x, i = blockIdx.x * THREADS + t;
    u32 in_job = i & (job - 1);
    tile[t] = records[i];
    __syncthreads();
#pragma unroll SORT_UNROLL
    for (u32 size = 2; size <= THREADS; size <<= 1) {
#pragma unroll
        for (u32 distance = THREADS / 2; distance > 0; distance >>= 1) {
            if (distance >= size)
                continue;
            u32 other = t ^ distance;
            if (other > t)
                exchange(data, tile, t, other, (in_job & size) == 0);
            __syncthreads();
        }
    }
    records[i] = tile[t];
}

// A step of the network across tiles.
extern "C" __global__ void __launch_bounds__(THREADS, 6)
sort_step(const u8 *data, uint4 *records, u32 job, u32 size, u32 distance) {
    u32 i = blockIdx.x * THREADS + threadIdx.x, other = i ^ distance;
    if (other > i)
        exchange(data, records, i, other, (i & (job - 1) & size) == 0);
}

// The steps of a size larger than a tile that stay within tiles.
extern "C" __global__ void __launch_bounds__(THREADS, 6)
sort_merge(const u8 *data, uint4 *records, u32 job, u32 size) {
    __shared__ uint4 tile[THREADS];
    u32 t = threadIdx.x, i = blockIdx.x * THREADS + t;
    bool ascending = (i & (job - 1) & size) == 0;
    tile[t] = records[i];
    __syncthreads();
#pragma unroll
    for (u32 distance = THREADS / 2; distance > 0; distance >>= 1) {
        u32 other = t ^ distance;
        if (other > t)
            exchange(data, tile, t, other, ascending);
        __syncthreads();
    }
    records[i] = tile[t];
}
