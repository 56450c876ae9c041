#include "check.h"

KERNEL(votes) {
    unsigned lane = threadIdx.x & 31;
    unsigned all = 0xffffffffu;
    CHECK(__ballot_sync(all, lane < 4) == 0xf);
    CHECK(__any_sync(all, lane == 3) && !__any_sync(all, lane > 40));
    CHECK(__all_sync(all, lane < 32) && !__all_sync(all, lane < 31));
    CHECK(__uni_sync(all, 1) && !__uni_sync(all, lane & 1));
    CHECK(__ballot(lane < 4) == 0xf && __any(lane == 3) && __all(lane < 32));
    CHECK(__activemask() == all);
    if (lane < 8)
        CHECK(__ballot_sync(0xff, lane & 1) == 0xaa);
    __syncwarp();
    __syncwarp(all);
    CHECK(__match_any_sync(all, (int)(lane / 8)) == 0xffu << (lane & 24));
    CHECK(__match_any_sync(all, (unsigned long long)(lane & 1)) == (lane & 1 ? 0xaaaaaaaau : 0x55555555u));
    int same;
    CHECK(__match_all_sync(all, 7.0f, &same) == all && same == 1);
    CHECK(__match_all_sync(all, (double)lane, &same) == 0 && same == 0);
    CHECK(__reduce_add_sync(all, lane) == 496 && __reduce_min_sync(all, (int)lane - 40) == -40);
    CHECK(__reduce_max_sync(all, lane) == 31 && __reduce_or_sync(all, 1u << lane) == all);
    CHECK(__reduce_and_sync(all, ~lane) == ~31u && __reduce_xor_sync(all, lane) == 0);
    CHECK(__laneid() == lane && warpSize == 32);
}

KERNEL(block_barriers) {
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    CHECK(s[63 - threadIdx.x] == 63 - (int)threadIdx.x);
    CHECK(__syncthreads_count(threadIdx.x < 10) == 10);
    CHECK(__syncthreads_and(threadIdx.x < 64) && !__syncthreads_and(threadIdx.x < 63));
    CHECK(__syncthreads_or(threadIdx.x == 63) && !__syncthreads_or(0));
    __threadfence();
    __threadfence_block();
    __threadfence_system();
}

KERNEL(times) {
    clock_t a = clock();
    long long b = clock64();
    clock_t c = clock();
    CHECK((int)(c - a) >= 0 && b >= 0);
}
