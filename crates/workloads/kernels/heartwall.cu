// Tracking of points on the walls of a beating heart. A block follows one point: it cuts a window
// around the point's last place out of the frame, correlates it with the point's template, divides by
// the spread of what lies under the template (from cumulative sums), smooths, and moves the point to
// the best place near where it was heading. One thread per element of each intermediate matrix, one
// per row for cumulative sums, one for the last decision: phases between barriers that use
// 512 threads, a few, or one. Matrices are column by column, and an element's row and column are
// found by division.
#include "warpsim.cuh"

#define THREADS 512

struct Common {
    int rows, columns;    // of a frame
    int side, reach;      // of a template, and half of it
    int window, half;     // the same for a window
    int inner;            // points on the inner wall come first
    int scratch;          // floats of scratch memory per point
    float spread;         // how far a point may stray from its motion, squared
};
__constant__ Common common;

// Where a point is, and where it moved last.
struct Place { int row, column, down, right; };

// A pixel of the frame; dark outside of it.
static __device__ __forceinline__ float pixel(const float *frame, int row, int column) {
    float v = 0.0f;
    if (((u32)row < (u32)common.rows) & ((u32)column < (u32)common.columns))
        v = frame[column * common.rows + row];
    return v;
}

// The sum over the block of one value per thread.
static __device__ __forceinline__ float total(float *sums, float value) {
    u32 t = threadIdx.x;
    sums[t] = value;
    __syncthreads();
    for (u32 half = THREADS / 2; half > 0; half /= 2) {
        if (t < half)
            sums[t] += sums[t + half];
        __syncthreads();
    }
    float sum = sums[0];
    __syncthreads();
    return sum;
}

// Sums along a line of a matrix, in place: eight loads at a time, so that they wait together.
static __device__ __forceinline__ void accumulate(float *line, int stride, int count) {
    float sum = 0.0f;
    int i = 0;
#pragma unroll 1
    for (; i + 8 <= count; i += 8) {
        float v[8];
#pragma unroll
        for (int k = 0; k < 8; k++)
            v[k] = line[(i + k) * stride];
#pragma unroll
        for (int k = 0; k < 8; k++) {
            sum += v[k];
            line[(i + k) * stride] = sum;
        }
    }
#pragma unroll 1
    for (; i < count; i++) {
        sum += line[i * stride];
        line[i * stride] = sum;
    }
}

// What lies under the template at each place of a window, and its squares: sums down the columns, then
// differences of sums along the rows. `strips` begins with columns of zeros left of the window and ends
// with such columns right of it; it has a part for the values and one for their squares, which the
// block's halves sum up at the same time.
static __device__ __forceinline__ void local_sums(const float *window, float *strips, float *local,
                                                  float *squares) {
    int t = threadIdx.x, side = common.side, reach = common.reach, width = common.window;
    int wide = width + side, all = width * wide;
    int lane = t % (THREADS / 2), half = t / (THREADS / 2);
    for (int e = t; e < all; e += THREADS) {
        int column = e / width - 1 - reach, row = e % width;
        float sum = 0.0f, sum_squared = 0.0f;
        if ((u32)column < (u32)width) {
            int last = min(width - 1, row + reach);
#pragma unroll 1
            for (int r = max(0, row - reach); r <= last; r++) {
                float v = window[column * width + r];
                sum += v;
                sum_squared += v * v;
            }
        }
        strips[e] = sum;
        strips[all + e] = sum_squared;
    }
    __syncthreads();
    if (lane < width)
        accumulate(strips + half * all + lane, width, wide);
    __syncthreads();
    for (int e = t; e < width * width; e += THREADS) {
        local[e] = strips[e + side * width] - strips[e];
        squares[e] = strips[all + e + side * width] - strips[all + e];
    }
    __syncthreads();
}

// Correlation of window and template at each place of the window: only where they overlap, so that
// places at the window's border sum up fewer products.
static __device__ __forceinline__ void correlate(const float *window, const float *turned,
                                                 float *products) {
    int side = common.side, reach = common.reach, width = common.window;
    for (int e = threadIdx.x; e < width * width; e += THREADS) {
        int column = e / width, row = e % width;
        int first = max(0, row + reach - width + 1), last = min(side - 1, row + reach);
        int left = max(0, column + reach - width + 1), right = min(side - 1, column + reach);
        float sum = 0.0f;
        for (int c = left; c <= right; c++) {
            const float *a = turned + c * side;
            const float *b = window + (column + reach - c) * width + row + reach;
#pragma unroll 1
            for (int r = first; r <= last; r++)
                sum += a[r] * b[-r];
        }
        products[e] = sum;
    }
    __syncthreads();
}

// The mean of what a mask around a place covers of the correlations: a square on the inner wall, a
// cross on the outer one, which moves less; cut at the window's border.
static __device__ __forceinline__ float smoothed(const float *ncc, int row, int column, bool inner) {
    int width = common.window;
    float sum = 0.0f, weight = 0.0f;
#pragma unroll
    for (int c = -1; c <= 1; c++)
#pragma unroll
        for (int r = -1; r <= 1; r++) {
            float corner = inner ? 1.0f : 0.0f, centre = inner ? 1.0f : 2.0f;
            float share = c != 0 && r != 0 ? corner : c == 0 && r == 0 ? centre : 1.0f;
            if (((u32)(column + c) < (u32)width) & ((u32)(row + r) < (u32)width)) {
                sum += share * ncc[(column + c) * width + row + r];
                weight += share;
            }
        }
    return sum / weight;
}

// `templates` holds a template per point, `renew` says whether they take in a part of this frame.
extern "C" __global__ void __launch_bounds__(THREADS)
heartwall(const float *frame, float *templates, float *scratch, Place *places, int number, int renew) {
    __shared__ float sums[THREADS];
    __shared__ float best_score[THREADS];
    __shared__ int best_column[THREADS];
    int t = threadIdx.x, point = blockIdx.x;
    int side = common.side, reach = common.reach, width = common.window, half = common.half;
    int cells = side * side, elements = width * width, wide = width + side;
    float *mine = templates + point * cells;
    Place *place = places + point;

    // The first frame gives the templates.
    if (number == 0) {
        for (int e = t; e < cells; e += THREADS)
            mine[e] = pixel(frame, place->row - reach + e % side, place->column - reach + e / side);
        return;
    }

    float *window = scratch + point * common.scratch;
    float *turned = window + elements;
    float *products = turned + cells;
    float *strips = products + elements;
    float *local = strips + 2 * wide * width;
    float *squares = local + elements;
    float *ncc = squares + elements;

    int top = place->row - half, left = place->column - half;
    for (int e = t; e < elements; e += THREADS)
        window[e] = pixel(frame, top + e % width, left + e / width);
    // A convolution with the template turned round is a correlation with the template.
    float part = 0.0f, part_squared = 0.0f;
    for (int e = t; e < cells; e += THREADS) {
        int column = e / side, row = e % side;
        float v = mine[e];
        turned[(side - 1 - column) * side + side - 1 - row] = v;
        part += v;
        part_squared += v * v;
    }
    __syncthreads();
    float sum = total(sums, part), sum_squared = total(sums, part_squared);
    float share = 1.0f / (float)cells;
    float variance = sum_squared - sum * sum * share;

    correlate(window, turned, products);
    local_sums(window, strips, local, squares);

    for (int e = t; e < elements; e += THREADS) {
        float s = local[e];
        float under = (squares[e] - s * s * share) * variance;
        float value = 0.0f;
        // Nothing resembles the template where all is equally bright.
        if (under > 1.0f)
            value = (products[e] - s * sum * share) * rsqrtf(under);
        ncc[e] = value;
    }
    __syncthreads();

    // Scores near where the point is heading; elsewhere none.
    bool inner = point < common.inner;
    float centre_row = (float)(half + place->down), centre_column = (float)(half + place->right);
    for (int e = t; e < elements; e += THREADS) {
        int column = e / width, row = e % width;
        float dr = (float)row - centre_row, dc = (float)column - centre_column;
        float score = -2.0f;
        if (dr * dr + dc * dc <= common.spread)
            score = smoothed(ncc, row, column, inner);
        products[e] = score;
    }
    __syncthreads();
    // The best of each row, then of all rows: the first of equal ones.
    if (t < width) {
        float best = -3.0f;
        int at = 0;
#pragma unroll 8
        for (int column = 0; column < width; column++) {
            float score = products[column * width + t];
            if (score > best) {
                best = score;
                at = column;
            }
        }
        best_score[t] = best;
        best_column[t] = at;
    }
    __syncthreads();
    if (t == 0) {
        int row = 0;
        for (int r = 1; r < width; r++)
            if (best_score[r] > best_score[row])
                row = r;
        int down = row - half, right = best_column[row] - half;
        place->row += down;
        place->column += right;
        place->down = down;
        place->right = right;
    }
    __syncthreads();
    if (renew)
        for (int e = t; e < cells; e += THREADS) {
            float now = pixel(frame, place->row - reach + e % side, place->column - reach + e / side);
            mine[e] = 0.75f * mine[e] + 0.25f * now;
        }
}
