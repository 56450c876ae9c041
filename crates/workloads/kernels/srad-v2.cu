// Speckle-reducing anisotropic diffusion, two kernels an iteration, blocks of 16x16 pixels. The
// first computes each pixel's differences to its neighbours and the diffusion coefficient, the
// second spreads. Tiles and the rows and columns around them are staged in shared memory, with
// barriers between staging and use; a pixel's place in the tile decides where its neighbours are.
// flags: -fcuda-short-ptr -mllvm -nvptx-short-ptr
#include "warpsim.cuh"
#include "halo.cuh"

#define SIDE 16

extern "C" __global__ void __launch_bounds__(SIDE *SIDE, 6)
srad_coefficients(const float *image, float *north_d, float *south_d, float *west_d, float *east_d,
                  float *coefficients, int rows, int columns, float q0) {
    __shared__ float tile[SIDE][SIDE], coefficient[SIDE][SIDE];
    __shared__ float north[SIDE][SIDE], south[SIDE][SIDE], west[SIDE][SIDE], east[SIDE][SIDE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int top = blockIdx.y * SIDE, left = blockIdx.x * SIDE;
    int at = (top + ty) * columns + left + tx;
    // The row above the tile and the row below it; at the image's border, the border itself.
    north[ty][tx] = image[max(top - 1, 0) * columns + left + tx];
    south[ty][tx] = image[min(top + SIDE, rows - 1) * columns + left + tx];
    __syncthreads();
    west[ty][tx] = image[(top + ty) * columns + max(left - 1, 0)];
    east[ty][tx] = image[(top + ty) * columns + min(left + SIDE, columns - 1)];
    __syncthreads();
    tile[ty][tx] = image[at];
    __syncthreads();

    float centre = tile[ty][tx];
    float n, s, w, e;
    // Corners, then edges, then the inside: the tile's first and last rows take more of these ways
    // than the rows between.
    if (ty == 0 && tx == 0) {
        n = here(north[ty][tx]) - centre;
        s = here(tile[ty + 1][tx]) - centre;
        w = here(west[ty][tx]) - centre;
        e = here(tile[ty][tx + 1]) - centre;
    } else if (ty == 0 && tx == SIDE - 1) {
        n = here(north[ty][tx]) - centre;
        s = here(tile[ty + 1][tx]) - centre;
        w = here(tile[ty][tx - 1]) - centre;
        e = here(east[ty][tx]) - centre;
    } else if (ty == SIDE - 1 && tx == SIDE - 1) {
        n = here(tile[ty - 1][tx]) - centre;
        s = here(south[ty][tx]) - centre;
        w = here(tile[ty][tx - 1]) - centre;
        e = here(east[ty][tx]) - centre;
    } else if (ty == SIDE - 1 && tx == 0) {
        n = here(tile[ty - 1][tx]) - centre;
        s = here(south[ty][tx]) - centre;
        w = here(west[ty][tx]) - centre;
        e = here(tile[ty][tx + 1]) - centre;
    } else if (ty == 0) {
        n = here(north[ty][tx]) - centre;
        s = here(tile[ty + 1][tx]) - centre;
        w = here(tile[ty][tx - 1]) - centre;
        e = here(tile[ty][tx + 1]) - centre;
    } else if (tx == SIDE - 1) {
        n = here(tile[ty - 1][tx]) - centre;
        s = here(tile[ty + 1][tx]) - centre;
        w = here(tile[ty][tx - 1]) - centre;
        e = here(east[ty][tx]) - centre;
    } else if (ty == SIDE - 1) {
        n = here(tile[ty - 1][tx]) - centre;
        s = here(south[ty][tx]) - centre;
        w = here(tile[ty][tx - 1]) - centre;
        e = here(tile[ty][tx + 1]) - centre;
    } else if (tx == 0) {
        n = here(tile[ty - 1][tx]) - centre;
        s = here(tile[ty + 1][tx]) - centre;
        w = here(west[ty][tx]) - centre;
        e = here(tile[ty][tx + 1]) - centre;
    } else {
        n = here(tile[ty - 1][tx]) - centre;
        s = here(tile[ty + 1][tx]) - centre;
        w = here(tile[ty][tx - 1]) - centre;
        e = here(tile[ty][tx + 1]) - centre;
    }
    float gradient = (n * n + s * s + w * w + e * e) / (centre * centre);
    float laplacian = (n + s + w + e) / centre;
    float above = 0.5f * gradient - (1.0f / 16.0f) * (laplacian * laplacian);
    float below = 1.0f + 0.25f * laplacian;
    float q = above / (below * below);
    float c = 1.0f / (1.0f + (q - q0) / (q0 * (1.0f + q0)));
    if (c < 0.0f)
        coefficient[ty][tx] = 0.0f;
    else if (c > 1.0f)
        coefficient[ty][tx] = 1.0f;
    else
        coefficient[ty][tx] = c;
    __syncthreads();
    coefficients[at] = coefficient[ty][tx];
    north_d[at] = n;
    south_d[at] = s;
    west_d[at] = w;
    east_d[at] = e;
}

extern "C" __global__ void __launch_bounds__(SIDE *SIDE, 6)
srad_spread(float *image, const float *north_d, const float *south_d, const float *west_d,
            const float *east_d, const float *coefficients, int rows, int columns, float lambda) {
    __shared__ float coefficient[SIDE][SIDE], tile[SIDE][SIDE], result[SIDE][SIDE];
    __shared__ float south_c[SIDE][SIDE], east_c[SIDE][SIDE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int top = blockIdx.y * SIDE, left = blockIdx.x * SIDE;
    int at = (top + ty) * columns + left + tx;
    tile[ty][tx] = image[at];
    __syncthreads();
    south_c[ty][tx] = coefficients[min(top + SIDE, rows - 1) * columns + left + tx];
    __syncthreads();
    east_c[ty][tx] = coefficients[(top + ty) * columns + min(left + SIDE, columns - 1)];
    __syncthreads();
    coefficient[ty][tx] = coefficients[at];
    __syncthreads();
    float c = coefficient[ty][tx], cs, ce;
    if (ty == SIDE - 1 && tx == SIDE - 1) {
        cs = here(south_c[ty][tx]);
        ce = here(east_c[ty][tx]);
    } else if (tx == SIDE - 1) {
        cs = here(coefficient[ty + 1][tx]);
        ce = here(east_c[ty][tx]);
    } else if (ty == SIDE - 1) {
        cs = here(south_c[ty][tx]);
        ce = here(coefficient[ty][tx + 1]);
    } else {
        cs = here(coefficient[ty + 1][tx]);
        ce = here(coefficient[ty][tx + 1]);
    }
    float divergence = c * north_d[at] + cs * south_d[at] + c * west_d[at] + ce * east_d[at];
    result[ty][tx] = tile[ty][tx] + 0.25f * lambda * divergence;
    __syncthreads();
    image[at] = result[ty][tx];
}
