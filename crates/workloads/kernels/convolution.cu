// A separable filter of 17 taps over an image: along the rows, then along the columns. A block brings its
// part of the image and what the filter reaches beyond it into shared memory; then every thread
// takes eight pixels that follow each other and what lies around them into registers and computes all eight from there. All lanes do
// the same. The image goes on as zero beyond its border.
#include "warpsim.cuh"

#define RADIUS 8
#define EACH 8 // pixels per thread

__constant__ float taps[2 * RADIUS + 1];

// Eight filtered pixels from the 24 around them.
static __device__ __forceinline__ void filter(const float *around, float *result) {
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        float sum = 0.0f;
#pragma unroll
        for (int tap = 0; tap <= 2 * RADIUS; tap++)
            sum = fmaf(taps[tap], around[k + tap], sum);
        result[k] = sum;
    }
}

#define ROW_X 16 // threads
#define ROW_Y 4
#define ROW_TILE (ROW_X * EACH + 2 * RADIUS)

extern "C" __global__ void __launch_bounds__(ROW_X *ROW_Y, 8)
convolve_rows(const float *from, float *to, u32 width, u32 height) {
    __shared__ __attribute__((aligned(16))) float tile[ROW_Y][ROW_TILE];
    u32 t = threadIdx.x, first = blockIdx.x * (ROW_X * EACH);
    u32 y = blockIdx.y * ROW_Y + threadIdx.y;
    const float *row = from + y * width;
    for (u32 i = t; i < ROW_TILE; i += ROW_X) {
        int at = (int)(first + i) - RADIUS;
        tile[threadIdx.y][i] = at >= 0 && at < (int)width ? row[at] : 0.0f;
    }
    __syncthreads();
    u32 x = first + t * EACH;
    if (x >= width)
        return;
    float around[EACH + 2 * RADIUS], result[EACH];
#pragma unroll
    for (u32 k = 0; k < EACH + 2 * RADIUS; k += 4) {
        float4 v = *(const float4 *)&tile[threadIdx.y][t * EACH + k];
        around[k] = v.x;
        around[k + 1] = v.y;
        around[k + 2] = v.z;
        around[k + 3] = v.w;
    }
    filter(around, result);
#pragma unroll
    for (u32 k = 0; k < EACH; k += 4)
        *(float4 *)&to[y * width + x + k] = {result[k], result[k + 1], result[k + 2], result[k + 3]};
}

#define COLUMN_X 16
#define COLUMN_Y 8
#define COLUMN_TILE (COLUMN_Y * EACH + 2 * RADIUS)

extern "C" __global__ void __launch_bounds__(COLUMN_X *COLUMN_Y, 8)
convolve_columns(const float *from, float *to, u32 width, u32 height) {
    __shared__ float tile[COLUMN_TILE][COLUMN_X];
    u32 t = threadIdx.x, first = blockIdx.y * (COLUMN_Y * EACH);
    u32 x = blockIdx.x * COLUMN_X + t;
    for (u32 i = threadIdx.y; i < COLUMN_TILE; i += COLUMN_Y) {
        int at = (int)(first + i) - RADIUS;
        tile[i][t] = at >= 0 && at < (int)height ? from[(u32)at * width + x] : 0.0f;
    }
    __syncthreads();
    float around[EACH + 2 * RADIUS], result[EACH];
#pragma unroll
    for (u32 k = 0; k < EACH + 2 * RADIUS; k++)
        around[k] = tile[threadIdx.y * EACH + k][t];
    filter(around, result);
#pragma unroll
    for (u32 k = 0; k < EACH; k++) {
        u32 y = first + threadIdx.y * EACH + k;
        if (y < height)
            to[y * width + x] = result[k];
    }
}
