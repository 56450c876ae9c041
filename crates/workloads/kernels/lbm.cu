// A step of a lattice Boltzmann fluid with nineteen directions in three dimensions: a thread takes a cell, reads what
// has streamed into it, collides, and streams the results into its neighbours. A block is a row of 120
// cells; a direction's values are a plane of their own, so that a row's reads coalesce and its writes
// are shifted by a cell. Obstacles reflect what streams in, cells under the lid are dragged along:
// the walls at both ends of a row make its outer warps run both sides of the branch.
#include "warpsim.cuh"

#define THREADS 120
#define DIRECTIONS 19
#define OBSTACLE 1
#define LID 2

// Rest, along the axes, along the diagonals of the planes; a direction and its opposite are neighbours.
static __device__ constexpr int cx[DIRECTIONS] = {0, 1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 1, -1, 1, -1, 0, 0, 0, 0};
static __device__ constexpr int cy[DIRECTIONS] = {0, 0, 0, 1, -1, 0, 0, 1, -1, -1, 1, 0, 0, 0, 0, 1, -1, 1, -1};
static __device__ constexpr int cz[DIRECTIONS] = {0, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 1, -1, -1, 1, 1, -1, -1, 1};

// How many cells further on a direction leads.
static __device__ __forceinline__ int shift(u32 d, u32 width, u32 layer) {
    return cx[d] + cy[d] * (int)width + cz[d] * (int)layer;
}

// Planes begin `margin` cells before the first, since walls stream out of the box.
extern "C" __global__ void __launch_bounds__(THREADS, 7)
performStreamColl(const float *from, float *to, const u32 *flags, u32 width, u32 plane, u32 margin,
                  float omega) {
    u32 row = blockIdx.y * gridDim.x + blockIdx.x;
    u32 at = row * width + threadIdx.x;
    u32 layer = gridDim.x * width;
    const float *in = from + margin + at;
    float f[DIRECTIONS];
#pragma unroll
    for (u32 d = 0; d < DIRECTIONS; d++)
        f[d] = in[d * plane];
    u32 flag = flags[at];
    float *out = to + margin + at;
    if (flag & OBSTACLE) {
        out[0] = f[0];
#pragma unroll
        for (u32 d = 1; d < DIRECTIONS; d++) {
            u32 opposite = d % 2 ? d + 1 : d - 1;
            out[(int)(d * plane) + shift(d, width, layer)] = f[opposite];
        }
        // Each side of the branch keeps its stores, as in the original.
        asm volatile("" ::: "memory");
    } else {
        float density = 0.0f, ux = 0.0f, uy = 0.0f, uz = 0.0f;
#pragma unroll
        for (u32 d = 0; d < DIRECTIONS; d++) {
            density += f[d];
            ux += (float)cx[d] * f[d];
            uy += (float)cy[d] * f[d];
            uz += (float)cz[d] * f[d];
        }
        ux /= density;
        uy /= density;
        uz /= density;
        if (flag & LID) {
            ux = 0.005f;
            uy = 0.002f;
            uz = 0.0f;
        }
        float square = 1.5f * (ux * ux + uy * uy + uz * uz);
#pragma unroll
        for (u32 d = 0; d < DIRECTIONS; d++) {
            float weight = d == 0 ? 1.0f / 3.0f : d < 7 ? 1.0f / 18.0f : 1.0f / 36.0f;
            float along = (float)cx[d] * ux + (float)cy[d] * uy + (float)cz[d] * uz;
            float rest = weight * density * (1.0f + along * (3.0f + 4.5f * along) - square);
            out[(int)(d * plane) + shift(d, width, layer)] = f[d] + omega * (rest - f[d]);
        }
    }
}
