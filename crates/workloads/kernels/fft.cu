// Fourier transforms of many signals of 512 complex numbers, a block each: Stockham's form, which needs no
// bit reversal, with four steps of radix 4 and one of radix 2 in shared memory. A thread computes the butterflies
// of four numbers in each step; every lane does the same, only where it writes differs.
#include "warpsim.cuh"

#define POINTS 512
#define THREADS (POINTS / 4)
#define TURN 6.2831853071795865f

static __device__ __forceinline__ float2 turned(float2 v, float angle) {
    float c = __cosf(angle), s = __sinf(angle);
    return {v.x * c - v.y * s, v.x * s + v.y * c};
}

extern "C" __global__ void __launch_bounds__(THREADS, 8)
fft(const float2 *from, float2 *to, float direction) {
    __shared__ float re[POINTS], im[POINTS];
    u32 t = threadIdx.x;
    const float2 *in = from + (u64)blockIdx.x * POINTS;
    float2 v[4];
#pragma unroll
    for (u32 r = 0; r < 4; r++)
        v[r] = in[t + r * THREADS];
#pragma unroll 1
    for (u32 done = 1; done < 256; done *= 4) {
        u32 k = t & (done - 1);
        // Values are `done` groups further on in a transform of four times the length.
        float angle = direction * TURN * (float)k / (float)(4 * done);
#pragma unroll
        for (u32 r = 1; r < 4; r++)
            v[r] = turned(v[r], angle * (float)r);
        float2 a = {v[0].x + v[2].x, v[0].y + v[2].y}, b = {v[0].x - v[2].x, v[0].y - v[2].y};
        float2 c = {v[1].x + v[3].x, v[1].y + v[3].y};
        // A quarter turn in the transform's direction.
        float2 d = {direction * (v[3].y - v[1].y), direction * (v[1].x - v[3].x)};
        float2 out[4] = {{a.x + c.x, a.y + c.y}, {b.x + d.x, b.y + d.y}, {a.x - c.x, a.y - c.y},
                         {b.x - d.x, b.y - d.y}};
        u32 place = (t - k) * 4 + k;
        __syncthreads();
#pragma unroll
        for (u32 r = 0; r < 4; r++) {
            re[place + r * done] = out[r].x;
            im[place + r * done] = out[r].y;
        }
        __syncthreads();
#pragma unroll
        for (u32 r = 0; r < 4; r++)
            v[r] = {re[t + r * THREADS], im[t + r * THREADS]};
    }
    // The last step: pairs that are half of the signal apart.
    float2 *result = to + (u64)blockIdx.x * POINTS;
#pragma unroll
    for (u32 r = 0; r < 2; r++) {
        u32 k = t + r * THREADS;
        float2 w = turned(v[r + 2], direction * TURN * (float)k / (float)POINTS);
        result[k] = {v[r].x + w.x, v[r].y + w.y};
        result[k + POINTS / 2] = {v[r].x - w.x, v[r].y - w.y};
    }
}
