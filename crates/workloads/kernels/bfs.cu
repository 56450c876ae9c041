// Level-synchronous breadth-first search over a graph in compressed rows. The first kernel visits
// the neighbours of every frontier node and marks those not seen before; the second makes the
// marked nodes the next frontier and says whether there is one. Degrees differ wildly in a
// scale-free graph: the neighbour loop diverges and its loads scatter.
//
// The variants are closer to the original: its loop over edges is not unrolled (`_rolled`), and its masks are
// bytes (`_bytes`).
#include "warpsim.cuh"

extern "C" __global__ void bfs_visit(const u32 *row, const u32 *edges, u32 *frontier,
                                     u32 *next, const u32 *visited, int *level, u32 nodes) {
    u32 node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node < nodes && frontier[node]) {
        frontier[node] = 0;
        int distance = level[node] + 1;
        u32 end = row[node + 1];
        for (u32 e = row[node]; e < end; e++) {
            u32 neighbour = edges[e];
            if (!visited[neighbour]) {
                // Several threads may write here: all of them the same values.
                level[neighbour] = distance;
                next[neighbour] = 1;
            }
        }
    }
}

extern "C" __global__ void bfs_advance(u32 *frontier, u32 *next, u32 *visited, u32 *again,
                                       u32 nodes) {
    u32 node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node < nodes && next[node]) {
        frontier[node] = 1;
        visited[node] = 1;
        next[node] = 0;
        *again = 1;
    }
}

#define VISIT(NAME, MASK, UNROLLING)                                                             \
    extern "C" __global__ void NAME(const u32 *row, const u32 *edges, MASK *frontier, MASK *next, \
                                    const MASK *visited, int *level, u32 nodes) {                 \
        u32 node = blockIdx.x * blockDim.x + threadIdx.x;                                         \
        if (node < nodes && frontier[node]) {                                                     \
            frontier[node] = 0;                                                                   \
            int distance = level[node] + 1;                                                       \
            u32 end = row[node + 1];                                                              \
            UNROLLING for (u32 e = row[node]; e < end; e++) {                                     \
                u32 neighbour = edges[e];                                                         \
                if (!visited[neighbour]) {                                                        \
                    level[neighbour] = distance;                                                  \
                    next[neighbour] = 1;                                                          \
                }                                                                                 \
            }                                                                                     \
        }                                                                                         \
    }

#define ROLLED _Pragma("clang loop unroll(disable)")
VISIT(bfs_visit_rolled, u32, ROLLED)
VISIT(bfs_visit_bytes, u8, )
VISIT(bfs_visit_bytes_rolled, u8, ROLLED)

extern "C" __global__ void bfs_advance_bytes(u8 *frontier, u8 *next, u8 *visited, u32 *again,
                                             u32 nodes) {
    u32 node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node < nodes && next[node]) {
        frontier[node] = 1;
        visited[node] = 1;
        next[node] = 0;
        *again = 1;
    }
}
