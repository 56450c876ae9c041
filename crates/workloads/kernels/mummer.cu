// Exact matches of DNA reads in a genome's suffix tree. A thread takes a read and finds, for
// every position of the read, the longest match that starts there: down the tree, node after
// node, base after base. The next position starts from the suffix link of the last whole node,
// from where known bases are skipped without looking at them. How far each walk goes depends on
// the read's mutations, so the loops diverge, and the tree's nodes lie anywhere in memory.
//
// The tree and the genome are textures, as in the original; `mummer_global` reads them as plain
// memory, to show what that makes of it.
#include "warpsim.cuh"
#include "texture.cuh"

#define NONE 0xffffffffu

// A node is 32 bytes, two texels: children by base; where the path to the node occurs first in the
// genome, its depth (bases from the root), its suffix link, nothing.
struct Textures {
    u64 nodes, bases;

    __device__ __forceinline__ u32 child(u32 node, u32 base) const {
        uint4 c = texture_uint4(nodes, 2 * node);
        return base < 2 ? (base ? c.y : c.x) : (base == 2 ? c.z : c.w);
    }
    __device__ __forceinline__ u32 at(u32 node) const { return texture_uint4(nodes, 2 * node + 1).x; }
    __device__ __forceinline__ u32 depth(u32 node) const { return texture_uint4(nodes, 2 * node + 1).y; }
    __device__ __forceinline__ u32 link(u32 node) const { return texture_uint4(nodes, 2 * node + 1).z; }
    __device__ __forceinline__ u32 base(u32 place) const { return texture_uint(bases, place); }
};

struct Memory {
    const u32 *nodes;
    const u8 *bases;

    __device__ __forceinline__ u32 child(u32 node, u32 base) const { return nodes[8 * node + base]; }
    __device__ __forceinline__ u32 at(u32 node) const { return nodes[8 * node + 4]; }
    __device__ __forceinline__ u32 depth(u32 node) const { return nodes[8 * node + 5]; }
    __device__ __forceinline__ u32 link(u32 node) const { return nodes[8 * node + 6]; }
    __device__ __forceinline__ u32 base(u32 place) const { return bases[place]; }
};

template <typename Genome>
static __device__ __forceinline__ void match(const Genome &genome, const u8 *reads, uint2 *matches,
                                             u32 count, u32 length, u32 shortest) {
    u32 read = blockIdx.x * blockDim.x + threadIdx.x;
    if (read >= count)
        return;
    const u8 *bases = reads + read * length;
    u32 starts = length - shortest + 1;
    u32 node = 0;    // the deepest node whose whole path matches
    u32 matched = 0; // bases known to match from here
    for (u32 start = 0; start < starts; start++) {
        u32 into = node; // the node below the place where the match ends
        u32 depth;
        while (start + (depth = genome.depth(node)) < length) {
            u32 child = genome.child(node, bases[start + depth]);
            if (child == NONE)
                break;
            into = child;
            u32 end = genome.depth(into);
            u32 edge = genome.at(into);
            u32 at = umin(umax(matched, depth), end);
            while (at < end && start + at < length && genome.base(edge + at) == bases[start + at])
                at++;
            matched = umax(matched, at);
            if (at < end)
                break;
            node = into;
        }
        bool enough = matched >= shortest;
        matches[read * starts + start] = {enough ? matched : 0, enough ? genome.at(into) : NONE};
        // One base less matches from the next position.
        if (matched > 0)
            matched--;
        node = genome.link(node);
    }
}

extern "C" __global__ void __launch_bounds__(256, 4)
mummer(u64 nodes, u64 genome, const u8 *reads, uint2 *matches, u32 count, u32 length, u32 shortest) {
    match(Textures{nodes, genome}, reads, matches, count, length, shortest);
}

extern "C" __global__ void __launch_bounds__(256, 4)
mummer_global(const u32 *nodes, const u8 *genome, const u8 *reads, uint2 *matches, u32 count,
              u32 length, u32 shortest) {
    match(Memory{nodes, genome}, reads, matches, count, length, shortest);
}
