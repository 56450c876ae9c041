// The pages of a web site ranked by their views, from what page-view-count makes of a log: offset and
// length of each URL, and its views. One round of MapReduce: the map takes the number of views as the key
// and leaves out pages that hardly anybody saw, the sort ranks (pages with as many views in the order of
// their URLs), and pages with as many views get the same rank.
// flags: -fcuda-short-ptr -mllvm -nvptx-short-ptr
#include "warpsim.cuh"
#define SORT_UNROLL 1
#include "mapreduce.cuh"
#include "groups.cuh"
#include "text.cuh"

#define FEWEST 200

// A record is the complement of the views, so that most comes first; offset and length of the URL;
// and the views.
static __device__ __forceinline__ bool before(const u8 *urls, uint4 a, uint4 b) {
    return compare_text(urls, a.y, a.z, b.y, b.z) < 0;
}
static __device__ __forceinline__ bool same_group(const u8 *, uint4 a, uint4 b) {
    return a.x == b.x;
}

extern "C" __global__ void __launch_bounds__(THREADS, 6) map_count(const uint4 *pages, u32 *counts) {
    u32 i = blockIdx.x * THREADS + threadIdx.x;
    counts[i] = pages[i].z >= FEWEST;
}

extern "C" __global__ void __launch_bounds__(THREADS, 6)
map_emit(const uint4 *pages, const u32 *places, uint4 *records, u32 job) {
    u32 i = blockIdx.x * THREADS + threadIdx.x;
    uint4 page = pages[i];
    if (page.z >= FEWEST)
        records[place_in_job(places, i, job)] = {~page.z, page.x, page.y, page.z};
}

// Offset and length of each URL, its views and its rank from 1.
extern "C" __global__ void __launch_bounds__(THREADS, 6)
rank(const uint4 *records, const u32 *marks, const u32 *places, uint4 *ranked, u32 job) {
    u32 i = blockIdx.x * THREADS + threadIdx.x;
    uint4 record = records[i];
    if (record.x != PADDING) {
        u32 groups = place_in_job(places, i, job) - (i & ~(job - 1));
        ranked[i] = {record.y, record.z, record.w, groups + marks[i]};
    }
}
