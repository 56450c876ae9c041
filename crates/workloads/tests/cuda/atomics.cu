#include "check.h"

__device__ int i;
__device__ unsigned u, wrap, down;
__device__ long long l;
__device__ unsigned long long ul, least, most, bits;
__device__ float f;
__device__ double d;
__device__ int lowest, highest;
__device__ unsigned ulowest, uhighest;

// Both warps of one block.
KERNEL(adding) {
    unsigned t = threadIdx.x;
    atomicAdd(&i, -1);
    atomicAdd(&u, 2u);
    atomicAdd(&ul, 1ull << 33);
    atomicAdd(&f, 0.5f);
    atomicAdd(&d, 0.25);
    atomicInc(&wrap, 9u);
    atomicDec(&down, 9u);
    atomicMin(&lowest, -(int)t);
    atomicMax(&highest, (int)t);
    atomicMin(&ulowest, t + 5);
    atomicMax(&uhighest, 3000000000u + t);
    atomicMax(&l, (long long)t - 10);
    atomicMax(&most, 1ull << 63 | t);
    atomicMin(&least, t);
    atomicOr(&bits, 1ull << t);
    __shared__ int s;
    if (t == 0)
        s = 100;
    __syncthreads();
    atomicSub(&s, 1);
    atomicAdd_block(&s, 3);
    atomicAdd_system(&s, 0);
    __syncthreads();
    CHECK(s == 228);
    CHECK(i == -64 && u == 128);
    CHECK(ul == 64ull << 33);
    CHECK(f == 32.0f && d == 16.0);
    CHECK(wrap == 4 && down == 6);
    CHECK(lowest == -63 && highest == 63 && ulowest == 0 && uhighest == 3000000063u);
    CHECK(l == 53 && most == (1ull << 63 | 63) && least == 0 && bits == ~0ull);
}

__device__ int x;
__device__ unsigned y;
__device__ unsigned long long z;
__device__ float w;
KERNEL(exchanging) {
    if (threadIdx.x)
        return;
    CHECK(atomicExch(&x, 5) == 0 && atomicExch(&x, 7) == 5 && x == 7);
    CHECK(atomicExch(&w, 1.5f) == 0.0f && atomicExch(&w, 2.5f) == 1.5f);
    CHECK(atomicExch(&z, 1ull << 60) == 0 && z == 1ull << 60);
    CHECK(atomicCAS(&x, 7, 9) == 7 && x == 9 && atomicCAS(&x, 7, 1) == 9 && x == 9);
    CHECK(atomicCAS(&y, 0u, 0xf0u) == 0u && atomicCAS(&z, 1ull << 60, 3ull) == 1ull << 60 && z == 3);
    CHECK(atomicAnd(&y, 0x90u) == 0xf0u && atomicOr(&y, 1u) == 0x90u && atomicXor(&y, 0x11u) == 0x91u && y == 0x80u);
    CHECK(atomicAnd(&x, 8) == 9 && atomicOr(&x, 3) == 8 && atomicXor(&x, 1) == 11 && x == 10);
    CHECK(atomicSub(&y, 1u) == 0x80u && y == 0x7fu);
    // The usual way to an atomic that there is none for.
    unsigned old = y, assumed;
    do {
        assumed = old;
        old = atomicCAS(&y, assumed, assumed * 2);
    } while (old != assumed);
    CHECK(y == 0xfeu);
}
