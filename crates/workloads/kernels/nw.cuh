// Needleman-Wunsch alignment scores. The matrix is cut into square tiles; tiles on a diagonal of tiles
// do not depend on each other and are the blocks of a launch. A block has a thread per column of its
// tile and fills it in shared memory diagonal by diagonal, with a barrier after each. Whoever includes
// this says how wide a tile is (SIDE) and what the kernel is called (NAME).
#pragma once

// `scores` is (n + 1) x (n + 1) with its first row and column given; `similarity` is n x n. `first`
// is the tile row of the launch's first tile, on the diagonal of tiles number `diagonal`.
extern "C" __global__ void __launch_bounds__(SIDE)
NAME(const int *similarity, int *scores, int n, int diagonal, int first, int penalty) {
    __shared__ int score[SIDE + 1][SIDE + 1];
    __shared__ int gain[SIDE][SIDE];
    int t = threadIdx.x;
    int tile_y = first + (int)blockIdx.x, tile_x = diagonal - tile_y;
    int top = tile_y * SIDE, left = tile_x * SIDE;
    int width = n + 1;
    // The row above the tile, the column left of it and the corner.
    if (t == 0)
        score[0][0] = scores[top * width + left];
    for (int row = 0; row < SIDE; row++)
        gain[row][t] = similarity[(top + row) * n + left + t];
    __syncthreads();
    score[t + 1][0] = scores[(top + t + 1) * width + left];
    __syncthreads();
    score[0][t + 1] = scores[top * width + left + t + 1];
    __syncthreads();
#pragma unroll 1
    for (int m = 0; m < SIDE; m++) {
        if (t <= m) {
            int x = t + 1, y = m - t + 1;
            int diagonally = score[y - 1][x - 1] + gain[y - 1][x - 1];
            int gap = max(score[y][x - 1], score[y - 1][x]) - penalty;
            score[y][x] = max(diagonally, gap);
        }
        __syncthreads();
    }
#pragma unroll 1
    for (int m = SIDE - 2; m >= 0; m--) {
        if (t <= m) {
            int x = t + SIDE - m, y = SIDE - t;
            int diagonally = score[y - 1][x - 1] + gain[y - 1][x - 1];
            int gap = max(score[y][x - 1], score[y - 1][x]) - penalty;
            score[y][x] = max(diagonally, gap);
        }
        __syncthreads();
    }
    for (int row = 0; row < SIDE; row++)
        scores[(top + row + 1) * width + left + t + 1] = score[row + 1][t + 1];
}
