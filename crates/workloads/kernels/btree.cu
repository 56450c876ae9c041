// Queries on a B+ tree. A block answers one query: on every level each thread compares one key of
// the current node, the one thread whose child covers the query says so, and the block meets at a
// barrier before and after it moves down. Nodes have ORDER children; unused keys are the largest
// number. A node's keys are followed by one more, so that every child has an upper bound.
#include "warpsim.cuh"

#define ORDER 256
#define STRIDE (ORDER + 1)

// One level down for the query's key, by all threads of the block.
static __device__ __forceinline__ void down(const u32 *keys, const u32 *children, u32 *current,
                                            u32 *next, u32 key) {
    u32 t = threadIdx.x;
    u32 node = *current;
    if (keys[node * STRIDE + t] <= key && key < keys[node * STRIDE + t + 1])
        *next = children[node * ORDER + t];
}

extern "C" __global__ void __launch_bounds__(ORDER, 5)
btree_find_k(const u32 *keys, const u32 *children, const u32 *records, const u32 *queries,
             u32 *current, u32 *next, u32 *answers, u32 height) {
    u32 t = threadIdx.x, query = blockIdx.x;
    u32 key = queries[query];
    for (u32 level = 0; level < height; level++) {
        down(keys, children, current + query, next + query, key);
        __syncthreads();
        if (t == 0)
            current[query] = next[query];
        __syncthreads();
    }
    u32 leaf = current[query];
    if (keys[leaf * STRIDE + t] == key)
        answers[query] = records[children[leaf * ORDER + t]];
}

// The records from one key to another, both in the tree: the first one's number and how many.
extern "C" __global__ void __launch_bounds__(ORDER, 5)
btree_range(const u32 *keys, const u32 *children, const u32 *from, const u32 *to, u32 *current,
            u32 *next, u32 *last_current, u32 *last_next, u32 *starts, u32 *lengths, u32 height) {
    u32 t = threadIdx.x, query = blockIdx.x;
    u32 start = from[query], end = to[query];
    for (u32 level = 0; level < height; level++) {
        down(keys, children, current + query, next + query, start);
        down(keys, children, last_current + query, last_next + query, end);
        __syncthreads();
        if (t == 0) {
            current[query] = next[query];
            last_current[query] = last_next[query];
        }
        __syncthreads();
    }
    u32 leaf = current[query], last = last_current[query];
    if (keys[leaf * STRIDE + t] == start)
        starts[query] = children[leaf * ORDER + t];
    __syncthreads();
    if (keys[last * STRIDE + t] == end)
        lengths[query] = children[last * ORDER + t] - starts[query] + 1;
}
