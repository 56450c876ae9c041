// Octree partitioning of points in space, in the manner of dynamic load balancing: blocks stay, and
// each takes a node from the lists of work, splits its points into eight and appends those children
// that still have too many points. To split, every thread counts its points of each octant, the block
// adds up the counts of the threads before, and every thread moves its points to where they belong,
// with barriers between these steps. Points go from one buffer to the other from level to level, and
// to `sorted` once their node is a leaf. A block that finds no work asks again until all points are
// in leaves.
// flags: -fcuda-short-ptr -mllvm -nvptx-short-ptr
#include "warpsim.cuh"
#include "worklist.cuh"

#define THREADS 256
#define OCTANTS 8
#define LANES (THREADS / OCTANTS)
#define UNROLL 4

struct Tree {
    float4 *even, *odd; // points of even and odd levels
    float4 *sorted;     // by leaf
    uint4 *leaves;      // path, level, first point and number of points, at the leaf's first point
    u32 *finished;      // points in leaves
    u32 total;          // points in all
    u32 leaf_size;      // nodes of no more points are leaves
    u32 deepest;        // and so are nodes of this level
    u32 brick_bits;     // the roots are cubes of the 2^-brick_bits-th part of the space
};

// The octant of a node of that level: the next binary digit of each coordinate.
static __device__ __forceinline__ u32 octant_of(float4 p, float scale) {
    u32 x = (u32)(p.x * scale) & 1, y = (u32)(p.y * scale) & 1, z = (u32)(p.z * scale) & 1;
    return z << 2 | y << 1 | x;
}

extern "C" __global__ void __launch_bounds__(THREADS, 4) octree(Worklists work, Tree tree) {
    // Points of each octant by thread, then where each thread's next one goes.
    __shared__ u32 place[OCTANTS][THREADS];
    // Sums of eight neighbouring counts.
    __shared__ u32 sums[2][OCTANTS][LANES];
    // What one thread says to all others. Volatile: the compiler would read it before the barrier in
    // threads that do not write it.
    __shared__ volatile u32 total[OCTANTS], is_leaf[OCTANTS];
    __shared__ volatile u32 node[4], state;
    u32 t = threadIdx.x;
    u32 row = t / LANES, lane = t % LANES;

    for (;;) {
        if (t == 0) {
            uint4 taken;
            if (take(work, blockIdx.x, &taken)) {
                node[0] = taken.x;
                node[1] = taken.y;
                node[2] = taken.z;
                node[3] = taken.w;
                state = 1;
            } else {
                state = fresh(tree.finished) == tree.total ? 2 : 0;
            }
        }
        __syncthreads();
        u32 now = state;
        u32 first = node[0], count = node[1], level = node[2], path = node[3];
        // Nobody may look at the state of the next round in this one's place.
        __syncthreads();
        if (now == 2)
            break;
        if (now == 0)
            continue;

        const float4 *from = (level & 1 ? tree.odd : tree.even) + first;
        float4 *to_child = level & 1 ? tree.even : tree.odd;
        float scale = (float)(1u << (tree.brick_bits + level + 1));
#pragma unroll
        for (u32 o = 0; o < OCTANTS; o++)
            place[o][t] = 0;
        for (u32 i = t; i < count; i += UNROLL * THREADS) {
            float4 p[UNROLL];
#pragma unroll
            for (u32 k = 0; k < UNROLL; k++)
                p[k] = fresh(from + umin(i + k * THREADS, count - 1));
#pragma unroll
            for (u32 k = 0; k < UNROLL; k++)
                if (i + k * THREADS < count)
                    place[octant_of(p[k], scale)][t]++;
        }
        __syncthreads();

        // A thread adds up eight counts of an octant; 32 threads have all of it.
        u32 part[OCTANTS], sum = 0;
#pragma unroll
        for (u32 k = 0; k < OCTANTS; k++) {
            part[k] = sum;
            sum += place[row][lane * OCTANTS + k];
        }
        u32 own = sum;
        sums[0][row][lane] = sum;
        __syncthreads();
        u32 side = 0;
#pragma unroll
        for (u32 distance = 1; distance < LANES; distance <<= 1) {
            if (lane >= distance)
                sum += sums[side][row][lane - distance];
            side ^= 1;
            sums[side][row][lane] = sum;
            __syncthreads();
        }
        if (lane == LANES - 1) {
            total[row] = sum;
            is_leaf[row] = sum <= tree.leaf_size || level + 1 == tree.deepest;
        }
        __syncthreads();
        u32 start = 0;
#pragma unroll
        for (u32 o = 0; o < OCTANTS; o++)
            if (o < row)
                start += total[o];
#pragma unroll
        for (u32 k = 0; k < OCTANTS; k++)
            place[row][lane * OCTANTS + k] = start + sum - own + part[k];
        __syncthreads();

        for (u32 i = t; i < count; i += UNROLL * THREADS) {
            float4 p[UNROLL];
#pragma unroll
            for (u32 k = 0; k < UNROLL; k++)
                p[k] = fresh(from + umin(i + k * THREADS, count - 1));
#pragma unroll
            for (u32 k = 0; k < UNROLL; k++)
                if (i + k * THREADS < count) {
                    u32 octant = octant_of(p[k], scale);
                    u32 to = first + place[octant][t]++;
                    (is_leaf[octant] ? tree.sorted : to_child)[to] = p[k];
                }
        }
        __threadfence();
        __syncthreads();

        // The points are where others may see them: now the children may be seen.
        if (t == 0) {
            u32 tail = work.tails[blockIdx.x], begin = first, done = 0;
#pragma unroll
            for (u32 o = 0; o < OCTANTS; o++) {
                u32 size = total[o];
                if (is_leaf[o]) {
                    done += size;
                    if (size > 0)
                        tree.leaves[begin] = {path << 3 | o, level + 1, begin, size};
                } else {
                    work.entries[blockIdx.x * work.capacity + tail++] = {begin, size, level + 1,
                                                                         path << 3 | o};
                }
                begin += size;
            }
            __threadfence();
            *(volatile u32 *)&work.tails[blockIdx.x] = tail;
            if (done > 0)
                atomicAdd(tree.finished, done);
        }
    }
}
