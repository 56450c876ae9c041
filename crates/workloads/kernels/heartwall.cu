// Tracking of points on the walls of a beating heart. A block follows one point: it cuts a window
// around the point's last place out of the frame, correlates it with the point's template, divides by
// the spread of what lies under the template (from cumulative sums), smooths, and moves the point to
// the best place near where it was heading. One thread per element of each intermediate matrix, one
// per column or row for cumulative sums, one for the last decision: phases between barriers that use
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
    if (row < 0 || column < 0 || row >= common.rows || column >= common.columns)
        return 0.0f;
    return frame[column * common.rows + row];
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

// What lies under the template at each place of a window (of squares, where `square`): sums down the
// columns of the padded window, differences of them, sums along the rows, differences again.
template <bool square>
static __device__ __forceinline__ void local_sums(const float *window, float *padded, float *columns,
                                                  float *local) {
    int t = threadIdx.x, side = common.side, reach = common.reach, width = common.window;
    int wide = width + side; // a row and a column of zeros, then the padding on both sides
    for (int e = t; e < wide * wide; e += THREADS) {
        int column = e / wide - 1 - reach, row = e % wide - 1 - reach;
        float v = 0.0f;
        if (column >= 0 && column < width && row >= 0 && row < width)
            v = window[column * width + row];
        padded[e] = square ? v * v : v;
    }
    __syncthreads();
    if (t < wide) {
        float sum = 0.0f;
        float *column = padded + t * wide;
#pragma unroll 4
        for (int row = 0; row < wide; row++) {
            sum += column[row];
            column[row] = sum;
        }
    }
    __syncthreads();
    for (int e = t; e < width * wide; e += THREADS) {
        int column = e / width, row = e % width;
        columns[e] = padded[column * wide + row + side] - padded[column * wide + row];
    }
    __syncthreads();
    if (t < width) {
        float sum = 0.0f;
#pragma unroll 4
        for (int column = 0; column < wide; column++) {
            sum += columns[column * width + t];
            columns[column * width + t] = sum;
        }
    }
    __syncthreads();
    for (int e = t; e < width * width; e += THREADS)
        local[e] = columns[e + side * width] - columns[e];
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
    if (inner) {
        for (int c = max(0, column - 1); c <= min(width - 1, column + 1); c++)
            for (int r = max(0, row - 1); r <= min(width - 1, row + 1); r++) {
                sum += ncc[c * width + r];
                weight += 1.0f;
            }
    } else {
        sum = 2.0f * ncc[column * width + row];
        weight = 2.0f;
        if (row > 0) {
            sum += ncc[column * width + row - 1];
            weight += 1.0f;
        }
        if (row < width - 1) {
            sum += ncc[column * width + row + 1];
            weight += 1.0f;
        }
        if (column > 0) {
            sum += ncc[(column - 1) * width + row];
            weight += 1.0f;
        }
        if (column < width - 1) {
            sum += ncc[(column + 1) * width + row];
            weight += 1.0f;
        }
    }
    return sum / weight;
}

// `templates` holds a template per point, `renew` says whether they take in a part of this frame.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
heartwall(const float *frame, float *templates, float *scratch, Place *places, int number, int renew) {
    __shared__ float sums[THREADS];
    __shared__ float best_score[THREADS];
    __shared__ int best_row[THREADS];
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
    float *padded = products + elements;
    float *columns = padded + wide * wide;
    float *local = columns + wide * width;
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
    local_sums<false>(window, padded, columns, local);
    local_sums<true>(window, padded, columns, squares);

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
    // The best of each column, then of all columns: the first of equal ones.
    if (t < width) {
        float best = -3.0f;
        int at = 0;
        for (int row = 0; row < width; row++) {
            float score = products[t * width + row];
            if (score > best) {
                best = score;
                at = row;
            }
        }
        best_score[t] = best;
        best_row[t] = at;
    }
    __syncthreads();
    if (t == 0) {
        int column = 0;
        for (int c = 1; c < width; c++)
            if (best_score[c] > best_score[column])
                column = c;
        int down = best_row[column] - half, right = column - half;
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
