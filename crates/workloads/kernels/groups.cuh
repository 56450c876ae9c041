// Groups of records with equal keys, after mapreduce.cuh has sorted them.
#pragma once

// Whether two records are in the same of the workload's groups.
static __device__ __forceinline__ bool same_group(const u8 *data, uint4 a, uint4 b);

// Marks the first record of each group of a sorted job.
extern "C" __global__ void __launch_bounds__(THREADS, 6)
mark_groups(const u8 *data, const uint4 *records, u32 *marks, u32 job) {
    u32 i = blockIdx.x * THREADS + threadIdx.x;
    uint4 record = records[i];
    bool first = record.x != PADDING;
    if (first && (i & (job - 1)) != 0)
        first = !same_group(data, records[i - 1], record);
    marks[i] = first;
}
