// Sums of absolute differences for motion search in video: for every macroblock of 16x16 pixels and every place in a
// window of the frame before, how different its sixteen blocks of 4x4 pixels are; then the same
// for larger blocks, by adding. A block of 61 threads shares a macroblock and each takes some of the places, one after the other; the
// frame before is read through a texture.
#include "warpsim.cuh"
#include "texture.cuh"

#define THREADS 61
#define KINDS 41 // blocks of a macroblock: 16 of 4x4, 8 of 8x4, 8 of 4x8, 4 of 8x8, 2 of 16x8, 2 of 8x16, 1 of 16x16

static __device__ __forceinline__ u32 add_difference(u32 a, u32 b, u32 sum) {
    u32 r;
    asm("sad.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(sum));
    return r;
}

// The sum for block b of macroblock m at place p is sums[(m * KINDS + b) * places + p].
extern "C" __global__ void __launch_bounds__(THREADS, 8)
mb_sad_calc(const u8 *frame, u64 before, u16 *sums, u32 width, u32 height, u32 range) {
    __shared__ u8 block[16][16];
    u32 left = blockIdx.x * 16, top = blockIdx.y * 16;
    for (u32 i = threadIdx.x; i < 256; i += THREADS)
        block[i / 16][i % 16] = frame[(top + i / 16) * width + left + i % 16];
    __syncthreads();
    u32 side = 2 * range + 1, places = side * side;
    u32 each = (places + THREADS - 1) / THREADS;
    u32 place = threadIdx.x * each, end = umin(place + each, places);
    u16 *out = sums + (u64)(blockIdx.y * gridDim.x + blockIdx.x) * KINDS * places;
    for (; place < end; place++) {
        int dx = (int)(left + place % side) - (int)range, dy = (int)(top + place / side) - (int)range;
#pragma unroll 1
        for (u32 b = 0; b < 16; b++) {
            u32 bx = b % 4 * 4, by = b / 4 * 4, sum = 0;
#pragma unroll
            for (u32 y = 0; y < 4; y++) {
                int row = min(max(dy + (int)(by + y), 0), (int)height - 1) * (int)width;
#pragma unroll
                for (u32 x = 0; x < 4; x++) {
                    int column = min(max(dx + (int)(bx + x), 0), (int)width - 1);
                    sum = add_difference(block[by + y][bx + x],
                                         texture_uint(before, (u32)(row + column)), sum);
                }
            }
            out[b * places + place] = (u16)sum;
        }
    }
}

// A block of 32x4 threads takes 4x4 macroblocks: a column of them per row of threads, all places.
#define MACROBLOCKS 4

extern "C" __global__ void __launch_bounds__(128)
larger_sad_calc_8(u16 *sums, u32 columns, u32 rows, u32 places) {
    u32 x = blockIdx.x * MACROBLOCKS + threadIdx.y;
    if (x >= columns)
        return;
    for (u32 r = 0; r < MACROBLOCKS; r++) {
        u32 y = blockIdx.y * MACROBLOCKS + r;
        if (y >= rows)
            return;
        u16 *s = sums + (u64)(y * columns + x) * KINDS * places;
        for (u32 p = threadIdx.x; p < places; p += 32)
#pragma unroll 1
            for (u32 q = 0; q < 4; q++) {
                // The quarter's blocks of 4x4: upper left, upper right, lower left, lower right.
                u32 first = q / 2 * 8 + q % 2 * 2;
                u32 a = s[first * places + p], b = s[(first + 1) * places + p],
                    c = s[(first + 4) * places + p], d = s[(first + 5) * places + p];
                s[(16 + 2 * q) * places + p] = (u16)(a + b);
                s[(17 + 2 * q) * places + p] = (u16)(c + d);
                s[(24 + 2 * q) * places + p] = (u16)(a + c);
                s[(25 + 2 * q) * places + p] = (u16)(b + d);
                s[(32 + q) * places + p] = (u16)(a + b + c + d);
            }
    }
}

extern "C" __global__ void __launch_bounds__(128)
larger_sad_calc_16(u16 *sums, u32 columns, u32 rows, u32 places) {
    u32 x = blockIdx.x * MACROBLOCKS + threadIdx.y;
    if (x >= columns)
        return;
    for (u32 r = 0; r < MACROBLOCKS; r++) {
        u32 y = blockIdx.y * MACROBLOCKS + r;
        if (y >= rows)
            return;
        u16 *s = sums + (u64)(y * columns + x) * KINDS * places;
        for (u32 p = threadIdx.x; p < places; p += 32) {
            u32 a = s[32 * places + p], b = s[33 * places + p], c = s[34 * places + p],
                d = s[35 * places + p];
            s[36 * places + p] = (u16)(a + b);
            s[37 * places + p] = (u16)(c + d);
            s[38 * places + p] = (u16)(a + c);
            s[39 * places + p] = (u16)(b + d);
            s[40 * places + p] = (u16)(a + b + c + d);
        }
    }
}
