// Speckle-reducing anisotropic diffusion on a linear grid of threads, one a pixel, as five kernels
// and a sixth that undoes the first: extract (to a linear scale), then for each iteration prepare,
// reduce (until one sum is left), srad, srad2; finally compress.
#include "warpsim.cuh"

#define THREADS 512

extern "C" __global__ void srad_extract(float *image, u32 pixels) {
    u32 i = blockIdx.x * THREADS + threadIdx.x;
    if (i < pixels)
        image[i] = __expf(image[i] / 255.0f);
}

extern "C" __global__ void srad_compress(float *image, u32 pixels) {
    u32 i = blockIdx.x * THREADS + threadIdx.x;
    if (i < pixels)
        image[i] = __logf(image[i]) * 255.0f;
}

extern "C" __global__ void srad_prepare(const float *image, float *sums, float *squares,
                                        u32 pixels) {
    u32 i = blockIdx.x * THREADS + threadIdx.x;
    if (i < pixels) {
        sums[i] = image[i];
        squares[i] = image[i] * image[i];
    }
}

// One sum a block. At each level the last thread of every group adds what the middle one has, so
// that the threads at work lie ever farther apart.
extern "C" __global__ void __launch_bounds__(THREADS)
srad_reduce(const float *sums_in, const float *squares_in, float *sums_out, float *squares_out,
            u32 count) {
    __shared__ float sum[THREADS], square[THREADS];
    u32 t = threadIdx.x;
    u32 i = blockIdx.x * THREADS + t;
    sum[t] = i < count ? sums_in[i] : 0.0f;
    square[t] = i < count ? squares_in[i] : 0.0f;
    __syncthreads();
    for (u32 group = 2; group <= THREADS; group *= 2) {
        if (((t + 1) & (group - 1)) == 0) {
            sum[t] += sum[t - group / 2];
            square[t] += square[t - group / 2];
        }
        __syncthreads();
    }
    if (t == THREADS - 1) {
        sums_out[blockIdx.x] = sum[t];
        squares_out[blockIdx.x] = square[t];
    }
}

// The rows above and below and the columns left and right of each come in tables, which repeat the
// border's own.
extern "C" __global__ void srad_gradient(const float *image, const u32 *above, const u32 *below,
                                         const u32 *left, const u32 *right, float *north_d,
                                         float *south_d, float *west_d, float *east_d,
                                         float *coefficients, u32 rows, u32 pixels, float q0) {
    u32 i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= pixels)
        return;
    u32 row = i % rows, column = i / rows;
    float centre = image[i];
    float n = image[above[row] + rows * column] - centre;
    float s = image[below[row] + rows * column] - centre;
    float w = image[row + rows * left[column]] - centre;
    float e = image[row + rows * right[column]] - centre;
    float gradient = (n * n + s * s + w * w + e * e) / (centre * centre);
    float laplacian = (n + s + w + e) / centre;
    float num = 0.5f * gradient - (1.0f / 16.0f) * (laplacian * laplacian);
    float den = 1.0f + 0.25f * laplacian;
    float q = num / (den * den);
    float c = 1.0f / (1.0f + (q - q0) / (q0 * (1.0f + q0)));
    if (c < 0.0f)
        c = 0.0f;
    else if (c > 1.0f)
        c = 1.0f;
    north_d[i] = n;
    south_d[i] = s;
    west_d[i] = w;
    east_d[i] = e;
    coefficients[i] = c;
}

extern "C" __global__ void srad_update(float *image, const u32 *below, const u32 *right,
                                       const float *north_d, const float *south_d,
                                       const float *west_d, const float *east_d,
                                       const float *coefficients, u32 rows, u32 pixels,
                                       float lambda) {
    u32 i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= pixels)
        return;
    u32 row = i % rows, column = i / rows;
    float c = coefficients[i];
    float cs = coefficients[below[row] + rows * column];
    float ce = coefficients[row + rows * right[column]];
    float divergence = c * north_d[i] + cs * south_d[i] + c * west_d[i] + ce * east_d[i];
    image[i] += 0.25f * lambda * divergence;
}
