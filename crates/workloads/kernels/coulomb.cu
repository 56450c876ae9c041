// Electric potential of point charges in one plane of a grid. A thread computes eight points of a
// row, 16 apart, so that what they share is computed once and a warp's accesses stay together.
// All threads go through the atoms in constant memory in step: nothing but arithmetic.
#include "warpsim.cuh"

#define ATOMS 512
#define POINTS 8

// Position in the plane, square of the distance to it, charge.
__constant__ float4 atoms[ATOMS];

extern "C" __global__ void __launch_bounds__(128, 8)
coulomb(float *potential, u32 width, u32 count, float spacing) {
    u32 column = blockIdx.x * 16 * POINTS + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    float x = (float)column * spacing, y = (float)row * spacing, step = 16.0f * spacing;
    float sum[POINTS];
#pragma unroll
    for (int p = 0; p < POINTS; p++)
        sum[p] = 0.0f;
    for (u32 i = 0; i < count; i++) {
        float dx = x - atoms[i].x, dy = y - atoms[i].y;
        float away = dy * dy + atoms[i].z, charge = atoms[i].w;
#pragma unroll
        for (int p = 0; p < POINTS; p++) {
            sum[p] += charge * rsqrtf(dx * dx + away);
            dx += step;
        }
    }
    u32 at = row * width + column;
#pragma unroll
    for (int p = 0; p < POINTS; p++)
        potential[at + 16 * p] = sum[p];
}
