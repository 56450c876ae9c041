// Ways to place n queens so that none attacks another. The host places the first few rows; a
// thread takes one such beginning and counts its completions by backtracking, its stack in shared
// memory. Subtrees differ wildly in size: some end at once, some have thousands of nodes.
#include "warpsim.cuh"

#define THREADS 96
#define ROWS 10

extern "C" __global__ void __launch_bounds__(THREADS)
nqueens(const uint4 *beginnings, u32 *solutions, u32 count, u32 rows, u32 n) {
    // Attacked columns, both diagonals, and the places of the row not yet tried.
    __shared__ u32 columns[ROWS][THREADS], left[ROWS][THREADS], right[ROWS][THREADS],
        open[ROWS][THREADS];
    u32 t = threadIdx.x, index = blockIdx.x * THREADS + t;
    if (index >= count)
        return;
    u32 all = (1u << n) - 1;
    uint4 b = beginnings[index];
    columns[0][t] = b.x;
    left[0][t] = b.y;
    right[0][t] = b.z;
    open[0][t] = all & ~(b.x | b.y | b.z);
    int row = 0;
    u32 found = 0;
    while (row >= 0) {
        u32 places = open[row][t];
        if (places == 0) {
            row--;
            continue;
        }
        u32 place = places & -places;
        open[row][t] = places ^ place;
        if (row + 1 == (int)rows) {
            found++;
            row--; // there is only one free column in the last row
            continue;
        }
        u32 c = columns[row][t] | place;
        u32 l = (left[row][t] | place) << 1, r = (right[row][t] | place) >> 1;
        row++;
        columns[row][t] = c;
        left[row][t] = l;
        right[row][t] = r;
        open[row][t] = all & ~(c | l | r);
    }
    solutions[index] = found;
}
