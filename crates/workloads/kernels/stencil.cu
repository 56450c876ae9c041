// One Jacobi step of a 7-point stencil on a 3-D grid: out = c1 * (the six neighbours) - c0 * centre,
// borders unchanged. A block of 32x16 threads computes a tile of 64x16 columns, two columns a
// thread, going up plane by plane: below, centre and above are in registers, the centre plane is in
// shared memory between two barriers. Neighbours outside the tile come from global memory, so that
// only the warps' first and last lanes and the tile's first and last rows make extra loads.
// flags: -fcuda-short-ptr -mllvm -nvptx-short-ptr
#include "warpsim.cuh"
#include "halo.cuh"

#define WIDE 32
#define TILE_X (2 * WIDE)
#define TILE_Y 16

struct Grid {
    int nx, ny, nz;
};

// The point at `from` (on the plane of the centre), column tx of the tile.
static __device__ __forceinline__ void
point(const float *from, float *to, const float tile[TILE_Y][TILE_X], int tx, int nx, float c0,
      float c1, float below, float centre, float above) {
    int ty = threadIdx.y;
    float sum = below + above;
    if (tx > 0)
        sum += tile[ty][tx - 1];
    else
        sum += load_global(from - 1);
    if (tx < TILE_X - 1)
        sum += tile[ty][tx + 1];
    else
        sum += load_global(from + 1);
    if (ty > 0)
        sum += tile[ty - 1][tx];
    else
        sum += load_global(from - nx);
    if (ty < TILE_Y - 1)
        sum += tile[ty + 1][tx];
    else
        sum += load_global(from + nx);
    *to = c1 * sum - c0 * centre;
}

static __device__ __forceinline__ void
columns(const float *in, float *out, float tile[TILE_Y][TILE_X], int bx, int by, Grid g, float c0,
        float c1) {
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = bx * TILE_X + tx;
    int y = by * TILE_Y + ty;
    bool inner = y > 0 && y < g.ny - 1;
    bool first = inner && x > 0, second = inner && x + WIDE < g.nx - 1;
    int plane = g.nx * g.ny;
    in += y * g.nx + x;
    out += y * g.nx + x;
    float below0 = in[0], centre0 = in[plane];
    float below1 = in[WIDE], centre1 = in[plane + WIDE];
#pragma unroll 1
    for (int left = g.nz - 2; left > 0; left--) {
        in += plane;
        out += plane;
        tile[ty][tx] = centre0;
        tile[ty][tx + WIDE] = centre1;
        float above0 = in[plane], above1 = in[plane + WIDE];
        __syncthreads();
        if (first)
            point(in, out, tile, tx, g.nx, c0, c1, below0, centre0, above0);
        if (second)
            point(in + WIDE, out + WIDE, tile, tx + WIDE, g.nx, c0, c1, below1, centre1, above1);
        __syncthreads();
        below0 = centre0;
        centre0 = above0;
        below1 = centre1;
        centre1 = above1;
    }
}

extern "C" __global__ void __launch_bounds__(WIDE * TILE_Y, 2)
stencil(const float *in, float *out, u32 nx, u32 ny, u32 nz, float c0, float c1) {
    __shared__ float tile[TILE_Y][TILE_X];
    Grid g = {(int)nx, (int)ny, (int)nz};
    columns(in, out, tile, blockIdx.x, blockIdx.y, g, c0, c1);
}

// All steps in one launch: blocks stride over the tiles, and after each step they wait for each
// other. `arrived` counts arrivals and never goes down. Works only while every block is resident.
extern "C" __global__ void __launch_bounds__(WIDE * TILE_Y, 2)
stencil_global(float *a, float *b, u32 *arrived, u32 nx, u32 ny, u32 nz, u32 steps, float c0,
               float c1) {
    __shared__ float tile[TILE_Y][TILE_X];
    Grid g = {(int)nx, (int)ny, (int)nz};
    u32 across = nx / TILE_X;
    u32 tiles = across * (ny / TILE_Y);
    for (u32 step = 0; step < steps; step++) {
        for (u32 t = blockIdx.x; t < tiles; t += gridDim.x)
            columns(a, b, tile, t % across, t / across, g, c0, c1);
        float *done = b;
        b = a;
        a = done;
        __syncthreads();
        if (threadIdx.x == 0 && threadIdx.y == 0) {
            __threadfence();
            atomicAdd(arrived, 1u);
            while (*(volatile u32 *)arrived < (step + 1) * gridDim.x)
                ;
            __threadfence();
        }
        __syncthreads();
    }
}
