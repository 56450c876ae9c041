// Detection of faces: a cascade of boosted Haar-like classifiers over every window of an image.
// A feature is the weighted sum of two or three rectangles, each four look-ups in the integral
// image; a stage is a sum of votes; a window that fails a stage is done. Most windows fail early,
// each at its own stage, so lanes drop out one after the other. The first kernel judges every
// window by the cheap stages, the second the few that are left by the expensive ones.
//
// Faces survive in neighbouring windows, which lie below each other in the same lanes of a block's warps. The
// variant turns each row of a block by some lanes more than the one before (`_turned`).
// flags: -ffp-contract=off
#include "warpsim.cuh"

#define WINDOW 24

// All constant: every lane of a warp looks at the same feature.
struct Feature {
    u32 low[3], high[3]; // corners of the rectangles, x in the lower half, y in the upper
    int weight[3];       // 0 for no rectangle
    float threshold;     // times area and deviation
    float below, above;  // votes
};
struct Stage {
    u32 first, count;
    float threshold;
};
__constant__ Feature features[320];
__constant__ Stage stages[16];

static __device__ __forceinline__ int area(const int *image, u32 pitch, u32 x, u32 y, u32 low,
                                           u32 high) {
    u32 x0 = x + (low & 0xffff), y0 = y + (low >> 16);
    u32 x1 = x + (high & 0xffff), y1 = y + (high >> 16);
    return image[y1 * pitch + x1] - image[y0 * pitch + x1] - image[y1 * pitch + x0] +
           image[y0 * pitch + x0];
}

// Judges a window by stages [from, to): the first one it fails, or `to`.
static __device__ __forceinline__ u32 judge(const int *sums, u32 pitch, u32 x, u32 y,
                                            float deviation, u32 from, u32 to) {
    u32 stage = from;
    for (; stage < to; stage++) {
        float vote = 0.0f;
        u32 first = stages[stage].first, end = first + stages[stage].count;
        for (u32 f = first; f < end; f++) {
            int value = area(sums, pitch, x, y, features[f].low[0], features[f].high[0]) *
                            features[f].weight[0] +
                        area(sums, pitch, x, y, features[f].low[1], features[f].high[1]) *
                            features[f].weight[1];
            if (features[f].weight[2] != 0)
                value += area(sums, pitch, x, y, features[f].low[2], features[f].high[2]) *
                         features[f].weight[2];
            vote += (float)value < features[f].threshold * deviation ? features[f].below
                                                                     : features[f].above;
        }
        if (vote < stages[stage].threshold)
            break;
    }
    return stage;
}

// Standard deviation of the window's pixels, times their number.
static __device__ __forceinline__ float spread(const int *sums, const int *squares, u32 pitch,
                                               u32 x, u32 y) {
    const u32 whole = WINDOW << 16 | WINDOW;
    float n = WINDOW * WINDOW;
    float sum = (float)area(sums, pitch, x, y, 0, whole);
    float square = (float)area(squares, pitch, x, y, 0, whole);
    float variance = n * square - sum * sum;
    return variance > n * n ? sqrtf(variance) : n;
}

extern "C" __global__ void __launch_bounds__(192, 5)
detect_early(const int *sums, const int *squares, u32 *failed, u32 pitch, u32 columns, u32 rows,
             u32 early) {
    u32 x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 6 + threadIdx.y;
    if (x < columns && y < rows)
        failed[y * columns + x] =
            judge(sums, pitch, x, y, spread(sums, squares, pitch, x, y), 0, early);
}

extern "C" __global__ void __launch_bounds__(192, 4)
detect_late(const int *sums, const int *squares, u32 *failed, u32 pitch, u32 columns, u32 rows,
            u32 early, u32 all) {
    u32 x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 6 + threadIdx.y;
    if (x < columns && y < rows && failed[y * columns + x] == early)
        failed[y * columns + x] =
            judge(sums, pitch, x, y, spread(sums, squares, pitch, x, y), early, all);
}

// The column of a thread's window: five lanes further on in each row, as wide as a face is found.
static __device__ __forceinline__ u32 turned() {
    return blockIdx.x * 32 + (threadIdx.x + 5 * threadIdx.y) % 32;
}

extern "C" __global__ void __launch_bounds__(192, 5)
detect_early_turned(const int *sums, const int *squares, u32 *failed, u32 pitch, u32 columns,
                    u32 rows, u32 early) {
    u32 x = turned(), y = blockIdx.y * 6 + threadIdx.y;
    if (x < columns && y < rows)
        failed[y * columns + x] =
            judge(sums, pitch, x, y, spread(sums, squares, pitch, x, y), 0, early);
}

extern "C" __global__ void __launch_bounds__(192, 4)
detect_late_turned(const int *sums, const int *squares, u32 *failed, u32 pitch, u32 columns,
                   u32 rows, u32 early, u32 all) {
    u32 x = turned(), y = blockIdx.y * 6 + threadIdx.y;
    if (x < columns && y < rows && failed[y * columns + x] == early)
        failed[y * columns + x] =
            judge(sums, pitch, x, y, spread(sums, squares, pitch, x, y), early, all);
}
