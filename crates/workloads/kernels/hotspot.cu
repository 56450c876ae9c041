// Temperatures on a chip: several steps of a five-point stencil in one launch. A block of 16x16
// threads loads a tile with a border as wide as the number of steps, steps in shared memory, and at
// each step the outermost ring of threads has nothing more to do. Barriers separate the steps.
#include "warpsim.cuh"

#define SIDE 16

static __device__ __forceinline__ bool in(int x, int low, int high) { return x >= low && x <= high; }

extern "C" __global__ void __launch_bounds__(SIDE *SIDE)
hotspot(const float *power, const float *from, float *to, int columns, int rows, int border,
        int steps, float per_capacity, float per_rx, float per_ry, float per_rz, float ambient) {
    __shared__ float now[SIDE][SIDE], heat[SIDE][SIDE], next[SIDE][SIDE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int inside = SIDE - 2 * border;
    int top = inside * blockIdx.y - border, left = inside * blockIdx.x - border;
    int y = top + ty, x = left + tx;
    int here = y * columns + x;
    if (in(y, 0, rows - 1) && in(x, 0, columns - 1)) {
        now[ty][tx] = from[here];
        heat[ty][tx] = power[here];
    }
    __syncthreads();
    // The part of the tile that lies on the chip; neighbours beyond it are the border itself.
    int first_y = max(-top, 0), last_y = min(SIDE - 1, rows - 1 - top);
    int first_x = max(-left, 0), last_x = min(SIDE - 1, columns - 1 - left);
    int n = max(ty - 1, first_y), s = min(ty + 1, last_y);
    int w = max(tx - 1, first_x), e = min(tx + 1, last_x);
    bool computed = false;
    for (int i = 0; i < steps; i++) {
        computed = false;
        if (in(tx, i + 1, SIDE - i - 2) && in(ty, i + 1, SIDE - i - 2) && in(tx, first_x, last_x) &&
            in(ty, first_y, last_y)) {
            computed = true;
            float t = now[ty][tx];
            next[ty][tx] = t + per_capacity * (heat[ty][tx] +
                                               (now[s][tx] + now[n][tx] - 2.0f * t) * per_ry +
                                               (now[ty][e] + now[ty][w] - 2.0f * t) * per_rx +
                                               (ambient - t) * per_rz);
        }
        __syncthreads();
        if (i == steps - 1)
            break;
        if (computed)
            now[ty][tx] = next[ty][tx];
        __syncthreads();
    }
    if (computed)
        to[here] = next[ty][tx];
}
