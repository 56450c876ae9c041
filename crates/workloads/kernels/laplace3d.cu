// Jacobi iteration for Laplace's equation on a 3-D grid: every inner point becomes the mean of its
// six neighbours, points on the border keep their value. A block takes a 32x4 column of the grid
// and goes through it plane by plane; three planes of the column with a rim of one point lie in
// shared memory, move down by one plane a step, with barriers before and after the sums. The rim
// is moved by as many threads as it has points; threads beyond the grid do nothing: warps diverge
// at the rim, at the border and at the grid's end.
#include "warpsim.cuh"

#define X 32
#define Y 4
#define PITCH (X + 2)
#define PLANE (PITCH * (Y + 2))

extern "C" __global__ void __launch_bounds__(X *Y, 6)
laplace3d(const float *from, float *to, u32 nx, u32 ny, u32 nz) {
    __shared__ float tile[3 * PLANE];
    u32 tx = threadIdx.x, ty = threadIdx.y, t = ty * X + tx;
    u32 x = blockIdx.x * X + tx, y = blockIdx.y * Y + ty;
    u32 plane = nx * ny;
    bool inside = x < nx && y < ny;
    u32 at = y * nx + x;                      // in a plane of the grid
    u32 own = (ty + 1) * PITCH + tx + 1;      // in a plane of the tile

    // Which point of the rim this thread loads: rows above and below, then columns left and right.
    u32 rim = 0, rim_x = 0, rim_y = 0;
    bool loads_rim = t < 2 * (X + Y);
    if (loads_rim) {
        u32 cx, cy;
        if (t < 2 * X) {
            cx = tx + 1;
            cy = t < X ? 0 : Y + 1;
        } else {
            u32 side = t - 2 * X;
            cx = side < Y ? 0 : X + 1;
            cy = side % Y + 1;
        }
        rim = cy * PITCH + cx;
        rim_x = blockIdx.x * X + cx - 1; // wraps left of the grid, and is then not inside
        rim_y = blockIdx.y * Y + cy - 1;
        loads_rim = rim_x < nx && rim_y < ny;
    }
    u32 rim_at = rim_y * nx + rim_x;

    // The tile's middle plane is the one being computed.
    u32 point = at, rim_point = rim_at;
    own += PLANE;
    rim += PLANE;
    if (inside)
        tile[own + PLANE] = from[point];
    if (loads_rim)
        tile[rim + PLANE] = from[rim_point];
    for (u32 z = 0; z < nz; z++) {
        // Every plane moves down by one and the next comes in on top.
        if (inside) {
            point = z * plane + at;
            tile[own - PLANE] = tile[own];
            tile[own] = tile[own + PLANE];
            if (z < nz - 1)
                tile[own + PLANE] = from[point + plane];
        }
        if (loads_rim) {
            rim_point = z * plane + rim_at;
            tile[rim - PLANE] = tile[rim];
            tile[rim] = tile[rim + PLANE];
            if (z < nz - 1)
                tile[rim + PLANE] = from[rim_point + plane];
        }
        __syncthreads();
        if (inside) {
            float value;
            if (x == 0 || x == nx - 1 || y == 0 || y == ny - 1 || z == 0 || z == nz - 1)
                value = tile[own];
            else
                value = (tile[own - 1] + tile[own + 1] + tile[own - PITCH] + tile[own + PITCH] +
                         tile[own - PLANE] + tile[own + PLANE]) *
                        (1.0f / 6.0f);
            to[point] = value;
        }
        __syncthreads();
    }
}
