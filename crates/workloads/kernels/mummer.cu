// Exact matches of DNA reads in a genome's suffix tree. A thread takes a read and finds, for
// every position of the read, the longest match that starts there: down the tree, node after
// node, base after base. The next position starts from the suffix link of the last whole node,
// from where known bases are skipped without looking at them. How far each walk goes depends on
// the read's mutations, so the loops diverge, and the tree's nodes lie anywhere in memory.
#include "warpsim.cuh"

#define NONE 0xffffffffu

// 32 bytes: children by base, where the path to the node occurs first in the genome, its depth
// (bases from the root) and its suffix link.
struct Node {
    u32 child[4];
    u32 at, depth, link, unused;
};

extern "C" __global__ void __launch_bounds__(256, 4)
mummer(const Node *nodes, const u8 *genome, const u8 *reads, uint2 *matches, u32 count, u32 length,
       u32 shortest) {
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
        while (start + (depth = nodes[node].depth) < length) {
            u32 child = nodes[node].child[bases[start + depth]];
            if (child == NONE)
                break;
            into = child;
            u32 end = nodes[into].depth;
            const u8 *edge = genome + nodes[into].at;
            u32 at = umin(umax(matched, depth), end);
            while (at < end && start + at < length && edge[at] == bases[start + at])
                at++;
            matched = umax(matched, at);
            if (at < end)
                break;
            node = into;
        }
        bool enough = matched >= shortest;
        matches[read * starts + start] = {enough ? matched : 0, enough ? nodes[into].at : NONE};
        // One base less matches from the next position.
        if (matched > 0)
            matched--;
        node = nodes[node].link;
    }
}
