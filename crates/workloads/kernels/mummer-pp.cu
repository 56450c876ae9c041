// Exact matches of DNA reads in a genome through its suffix array, which is a small fraction of a
// suffix tree's size. A thread takes a read and, for every position of the read, looks up the
// suffixes that begin with its first five bases and finds the longest match among them by binary
// search, skipping bases that both ends of the interval are known to share; where a match is long
// enough, a second search finds the first suffix that has it. Comparisons end at different bases
// in every lane.
#include "warpsim.cuh"

#define NONE 0xffffffffu
#define PREFIX 5

// Bases that a suffix of the genome and the read share, `known` of them without a look. The
// genome ends in something that is no base.
static __device__ __forceinline__ u32 shared_bases(const u8 *suffix, const u8 *read, u32 known,
                                                   u32 length) {
    while (known < length && suffix[known] == read[known])
        known++;
    return known;
}

extern "C" __global__ void __launch_bounds__(192, 3)
mummer_pp(const u32 *suffixes, const uint2 *buckets, const u8 *genome, const u8 *reads,
          uint2 *matches, u32 count, u32 length, u32 shortest) {
    u32 read = blockIdx.x * blockDim.x + threadIdx.x;
    if (read >= count)
        return;
    u32 starts = length - shortest + 1;
    for (u32 start = 0; start < starts; start++) {
        const u8 *bases = reads + read * length + start;
        u32 rest = length - start;
        // Suffixes before `low` are smaller than the read, those from `high` on are not.
        u32 bucket = 0;
        for (u32 i = 0; i < PREFIX; i++)
            bucket = bucket << 2 | bases[i];
        u32 from = buckets[bucket].x, to = buckets[bucket].y;
        u32 low = from, high = to, below = PREFIX, above = PREFIX, longest = 0;
        while (low < high) {
            u32 middle = (low + high) / 2;
            const u8 *suffix = genome + suffixes[middle];
            u32 same = shared_bases(suffix, bases, umin(below, above), rest);
            longest = umax(longest, same);
            if (same < rest && suffix[same] < bases[same]) {
                low = middle + 1;
                below = same;
            } else {
                high = middle;
                above = same;
            }
        }
        u32 first = NONE;
        if (longest >= shortest) {
            // The first suffix with the longest match: a search of the same kind, in which a
            // suffix that has the match is never smaller.
            high = umin(low + 1, to);
            low = from;
            below = above = PREFIX;
            while (low < high) {
                u32 middle = (low + high) / 2;
                const u8 *suffix = genome + suffixes[middle];
                u32 same = shared_bases(suffix, bases, umin(below, above), longest);
                if (same < longest && suffix[same] < bases[same]) {
                    low = middle + 1;
                    below = same;
                } else {
                    high = middle;
                    above = same;
                }
            }
            first = low;
        } else {
            longest = 0;
        }
        matches[read * starts + start] = {longest, first};
    }
}
