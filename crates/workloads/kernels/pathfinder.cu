// Cheapest way through a grid from the first row to the last, moving straight or diagonally. A block
// of 256 threads takes several rows in one launch with a ghost zone on both sides that shrinks by one
// column a row, and barriers between the rows.
#include "warpsim.cuh"

#define THREADS 256

extern "C" __global__ void __launch_bounds__(THREADS)
pathfinder(const int *wall, const int *from, int *to, int columns, int first_row, int rows,
           int border) {
    __shared__ int before[THREADS], after[THREADS];
    int t = threadIdx.x;
    int inside = THREADS - 2 * border;
    int left = inside * blockIdx.x - border;
    int x = left + t;
    int first = max(-left, 0), last = min(THREADS - 1, columns - 1 - left);
    int w = max(t - 1, first), e = min(t + 1, last);
    bool valid = t >= first && t <= last;
    if (x >= 0 && x < columns)
        before[t] = from[x];
    __syncthreads();
    bool computed = false;
    for (int i = 0; i < rows; i++) {
        computed = false;
        if (t >= i + 1 && t <= THREADS - i - 2 && valid) {
            computed = true;
            int shortest = min(before[w], before[t]);
            shortest = min(shortest, before[e]);
            after[t] = shortest + wall[(first_row + i) * columns + x];
        }
        __syncthreads();
        if (i == rows - 1)
            break;
        if (computed)
            before[t] = after[t];
        __syncthreads();
    }
    if (computed)
        to[x] = after[t];
}
