// SHA-1 of many chunks of data, as a store that finds duplicates does it. A thread takes a chunk;
// a thread block first brings its chunks to shared memory with coalesced loads, since a thread's
// own words lie far from its neighbours'. Then it is integer work without a branch that differs.
#include "warpsim.cuh"

#define THREADS 128

static __device__ __forceinline__ u32 swap_bytes(u32 x) { return __builtin_bswap32(x); }

struct Digest { u32 h[5]; };

// Takes one 64-byte block into the digest; w is overwritten by the message schedule.
static __device__ __forceinline__ void absorb(Digest &digest, u32 (&w)[16]) {
    u32 a = digest.h[0], b = digest.h[1], c = digest.h[2], d = digest.h[3], e = digest.h[4];
#pragma unroll
    for (int i = 0; i < 80; i++) {
        u32 f, k;
        if (i < 20) {
            f = (b & c) | (~b & d);
            k = 0x5a827999;
        } else if (i < 40) {
            f = b ^ c ^ d;
            k = 0x6ed9eba1;
        } else if (i < 60) {
            f = (b & c) | (b & d) | (c & d);
            k = 0x8f1bbcdc;
        } else {
            f = b ^ c ^ d;
            k = 0xca62c1d6;
        }
        if (i >= 16)
            w[i & 15] = __rotl(w[(i + 13) & 15] ^ w[(i + 8) & 15] ^ w[(i + 2) & 15] ^ w[i & 15], 1);
        u32 next = __rotl(a, 5) + f + e + k + w[i & 15];
        e = d;
        d = c;
        c = __rotl(b, 30);
        b = a;
        a = next;
    }
    digest.h[0] += a;
    digest.h[1] += b;
    digest.h[2] += c;
    digest.h[3] += d;
    digest.h[4] += e;
}

extern "C" __global__ void __launch_bounds__(THREADS)
sha1(const u32 *data, u32 *digests, u32 chunks, u32 blocks) {
    // A row a thread; 17 words apart, so that 32 threads' words lie in different banks.
    __shared__ u32 staged[THREADS * 17];
    u32 t = threadIdx.x, first = blockIdx.x * THREADS;
    u32 words = 16 * blocks; // of a chunk
    Digest digest = {{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0}};
    for (u32 block = 0; block < blocks; block++) {
        __syncthreads();
        for (u32 i = t; i < THREADS * 16; i += THREADS) {
            u32 chunk = first + i / 16;
            if (chunk < chunks)
                staged[i / 16 * 17 + i % 16] = data[chunk * words + block * 16 + i % 16];
        }
        __syncthreads();
        u32 w[16];
#pragma unroll
        for (int i = 0; i < 16; i++)
            w[i] = swap_bytes(staged[t * 17 + i]);
        absorb(digest, w);
    }
    // The padding: a one bit, zeroes, and the length in bits.
    u32 w[16] = {0x80000000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, words * 32};
    absorb(digest, w);
    if (first + t < chunks)
        for (int i = 0; i < 5; i++)
            digests[(first + t) * 5 + i] = digest.h[i];
}
