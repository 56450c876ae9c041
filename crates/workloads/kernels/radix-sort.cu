// Radix sort by four bits a pass. Each block sorts its tile by the pass's digit in shared memory,
// one bit at a time by a scan of the block (the zeros go first), and counts its digits; a scan over
// all blocks' counts, digit by digit, says where each block's keys of a digit go; then they are
// moved there, which is coalesced because a tile's keys are in digit order.
#include "warpsim.cuh"

#define THREADS 256
#define PER_THREAD 4
#define TILE (THREADS * PER_THREAD)
#define DIGIT_BITS 4
#define DIGITS (1 << DIGIT_BITS)

// Sum of `value` over the threads before this one; `*total` is the sum over all. Each level adds
// what lies twice as far away, from one half of `scratch` to the other, with a barrier after it.
// (No level relies on the threads of a warp running in step, which not every machine promises.)
static __device__ __forceinline__ u32 scan_block(u32 value, u32 scratch[2][THREADS], u32 *total) {
    u32 t = threadIdx.x, side = 0;
    u32 sum = value;
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

// Sorts each tile by the digit at `shift`; counts go to counts[digit * blocks + block], and where
// each digit begins in the tile to starts[block * DIGITS + digit].
extern "C" __global__ void __launch_bounds__(THREADS)
radix_sort_tile(const u32 *keys_in, u32 *keys_out, u32 *counts, u32 *starts, u32 shift) {
    __shared__ u32 tile[TILE];
    __shared__ u32 scratch[2][THREADS];
    __shared__ u32 start[DIGITS + 1];
    u32 t = threadIdx.x;
    u32 base = blockIdx.x * TILE;
    u32 key[PER_THREAD];
    uint4 loaded = ((const uint4 *)(keys_in + base))[t];
    key[0] = loaded.x;
    key[1] = loaded.y;
    key[2] = loaded.z;
    key[3] = loaded.w;
#pragma unroll 1
    for (u32 bit = shift; bit < shift + DIGIT_BITS; bit++) {
        u32 zeros = 0;
        for (u32 k = 0; k < PER_THREAD; k++)
            zeros += 1 - ((key[k] >> bit) & 1);
        u32 all_zeros;
        u32 zero = scan_block(zeros, scratch, &all_zeros);
        u32 one = all_zeros + PER_THREAD * t - zero;
        for (u32 k = 0; k < PER_THREAD; k++) {
            u32 to = (key[k] >> bit) & 1 ? one++ : zero++;
            tile[to] = key[k];
        }
        __syncthreads();
        for (u32 k = 0; k < PER_THREAD; k++)
            key[k] = tile[PER_THREAD * t + k];
        __syncthreads();
    }
    // Where a digit differs from the one before it, all digits up to it begin.
    if (t <= DIGITS)
        start[t] = TILE;
    __syncthreads();
    for (u32 i = t; i < TILE; i += THREADS) {
        u32 sorted = tile[i];
        u32 digit = (sorted >> shift) & (DIGITS - 1);
        if (i == 0 || digit != ((tile[i - 1] >> shift) & (DIGITS - 1)))
            start[digit] = i;
        keys_out[base + i] = sorted;
    }
    __syncthreads();
    // Digits that do not occur begin where the next one does.
    if (t == 0)
        for (int d = DIGITS - 1; d >= 0; d--)
            if (start[d] == TILE)
                start[d] = start[d + 1];
    __syncthreads();
    if (t < DIGITS) {
        counts[t * gridDim.x + blockIdx.x] = start[t + 1] - start[t];
        starts[blockIdx.x * DIGITS + t] = start[t];
    }
}

// Replaces counts by the sums of those before them, by one block.
extern "C" __global__ void __launch_bounds__(THREADS)
radix_sort_scan(u32 *counts, u32 n) {
    __shared__ u32 scratch[2][THREADS];
    u32 carry = 0;
    for (u32 base = 0; base < n; base += THREADS) {
        u32 i = base + threadIdx.x;
        u32 value = i < n ? counts[i] : 0;
        u32 total;
        u32 before = scan_block(value, scratch, &total);
        if (i < n)
            counts[i] = carry + before;
        carry += total;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
radix_sort_move(const u32 *keys_in, u32 *keys_out, const u32 *offsets, const u32 *starts,
                u32 shift) {
    __shared__ u32 shift_by[DIGITS];
    u32 t = threadIdx.x;
    u32 base = blockIdx.x * TILE;
    if (t < DIGITS)
        shift_by[t] = offsets[t * gridDim.x + blockIdx.x] - starts[blockIdx.x * DIGITS + t];
    __syncthreads();
    for (u32 i = t; i < TILE; i += THREADS) {
        u32 key = keys_in[base + i];
        keys_out[i + shift_by[(key >> shift) & (DIGITS - 1)]] = key;
    }
}
