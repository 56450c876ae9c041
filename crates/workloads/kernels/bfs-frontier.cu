// Breadth-first search with one kernel per level: a thread per node looks whether its node is on the
// level, and gives the next level to those neighbours that have none.
#include "warpsim.cuh"

extern "C" __global__ void bfs_frontier(const u32 *row, const u32 *edges, int *level, u32 *again,
                                        int now, u32 nodes) {
    u32 node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node < nodes && level[node] == now) {
        u32 end = row[node + 1];
        for (u32 e = row[node]; e < end; e++) {
            u32 neighbour = edges[e];
            // Several threads may write here: all of them the same values.
            if (level[neighbour] < 0) {
                level[neighbour] = now + 1;
                *again = 1;
            }
        }
    }
}
