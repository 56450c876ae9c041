// Those that gave silently wrong results when there were integer forms only, and their neighbours.
#include "check.h"

KERNEL(minima) {
    float f = zero + 0.25f;
    double d = zero + 0.25;
    unsigned u = zero + 3000000000u;
    long long l = zero + 5000000000ll;
    unsigned long long ull = zero + 18000000000000000000ull;
    CHECK(min(f, 0.75f) == 0.25f);
    CHECK(max(f, 0.75f) == 0.75f);
    CHECK(max(-f, -0.75f) == -0.25f);
    CHECK(min(d, 0.75) == 0.25);
    CHECK(max(d, 0.75) == 0.75);
    CHECK(max(f, 0.75) == 0.75);
    CHECK(min(0.75, f) == 0.25);
    CHECK(min(u, 5u) == 5u);
    CHECK(max(u, 5u) == 3000000000u);
    CHECK(max(u, 5) == 3000000000u);
    CHECK(min(zero - 1, 5) == -1);
    CHECK(max(zero - 1, 5u) == 4294967295u);
    CHECK(min(l, 6000000000ll) == 5000000000ll);
    CHECK(max(l, 6000000000ll) == 6000000000ll);
    CHECK(max(ull, 1ull) == 18000000000000000000ull);
    CHECK(min((long)l, 7l) == 7l);
    CHECK(fminf(f, 0.5f) == 0.25f && fmaxf(f, 0.5f) == 0.5f);
    CHECK(fmin(d, 0.5) == 0.25 && fmax(d, 0.5) == 0.5);
    CHECK(fminf(f, nanf("")) == 0.25f);
    CHECK(umin(u, 1u) == 1u && umax(u, 1u) == u && llmin(l, 1) == 1 && ullmax(ull, 1) == ull);
}

KERNEL(absolutes) {
    CHECK(abs(zero - 0.5f) == 0.5f);
    CHECK(abs(zero - 0.5) == 0.5);
    CHECK(abs(zero - 7) == 7);
    CHECK(abs(zero - 5000000000ll) == 5000000000ll);
    CHECK(abs((long)(zero - 5000000000ll)) == 5000000000l);
    CHECK(labs(zero - 9l) == 9 && llabs(zero - 9ll) == 9);
    CHECK(fabsf(zero - 0.5f) == 0.5f && fabs(zero - 0.5) == 0.5 && fabs(zero - 0.5f) == 0.5f);
}

KERNEL(shuffles) {
    int lane = threadIdx.x & 31;
    unsigned all = 0xffffffffu;
    float f = lane + 0.5f;
    double d = lane + 0.125;
    long long l = (1ll << 40) + lane;
    unsigned long long u = ~0ull - lane;
    CHECK(__shfl_sync(all, f, 5) == 5.5f);
    CHECK(__shfl_xor_sync(all, f, 1) == (lane ^ 1) + 0.5f);
    CHECK(__shfl_up_sync(all, f, 1) == (lane ? lane - 1 : 0) + 0.5f);
    CHECK(__shfl_down_sync(all, f, 2) == (lane < 30 ? lane + 2 : lane) + 0.5f);
    CHECK(__shfl_sync(all, d, 31) == 31.125);
    CHECK(__shfl_xor_sync(all, d, 16) == (lane ^ 16) + 0.125);
    CHECK(__shfl_sync(all, l, 3) == (1ll << 40) + 3);
    CHECK(__shfl_down_sync(all, u, 1) == ~0ull - (lane < 31 ? lane + 1 : lane));
    CHECK(__shfl_sync(all, lane, 9) == 9);
    CHECK(__shfl_sync(all, (unsigned)lane, 9) == 9u);
    CHECK(__shfl_sync(all, f, 1, 8) == (lane & 24) + 1.5f);
    CHECK(__shfl_up_sync(all, f, 1, 4) == (lane & 3 ? lane - 1 : lane) + 0.5f);
    CHECK(__shfl_down_sync(all, f, 1, 4) == ((lane & 3) < 3 ? lane + 1 : lane) + 0.5f);
    CHECK(__shfl_xor_sync(all, (long)l, 1, 2) == (1l << 40) + (lane ^ 1));
    CHECK(__shfl(f, 7) == 7.5f && __shfl_xor(d, 1) == (lane ^ 1) + 0.125);
    CHECK(__shfl_up(lane, 1) == (lane ? lane - 1 : 0) && __shfl_down(lane, 1) == (lane < 31 ? lane + 1 : 31));
    float sum = f;
    for (int by = 16; by > 0; by /= 2)
        sum += __shfl_down_sync(all, sum, by);
    CHECK(lane != 0 || sum == 512.0f);
}

KERNEL(mixed_math) {
    // Integers go to the double, floats stay floats.
    CHECK(sqrt(zero + 2) == 1.4142135623730951);
    CHECK(sqrt(zero + 2.0f) == 1.41421354f);
    CHECK(pow(zero + 2, 10) == 1024.0 && pow(zero + 2.0f, 3) == 8.0f && fabs(pow(zero + 2.0f, 0.5) - 1.4142135623730951) < 3e-16);
    CHECK(sizeof(sqrt(1)) == 8 && sizeof(sqrt(1.0f)) == 4 && sizeof(pow(1.0f, 2.0f)) == 4 && sizeof(max(1.0f, 2.0f)) == 4);
    CHECK(floor(zero - 1.5f) == -2.0f && ceil(zero + 1.5) == 2.0);
}
