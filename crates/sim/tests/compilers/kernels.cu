// Small kernels that every compiler of CUDA is given. Each is (const int *in, int *out, int n) and
// computes whole numbers that do not depend on how it is compiled, fast math included.
#ifdef __clang__
// No toolkit is needed.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __noinline__ __attribute__((noinline))
#define TID __nvvm_read_ptx_sreg_tid_x()
#define BLOCK __nvvm_read_ptx_sreg_ctaid_x()
#define SIZE __nvvm_read_ptx_sreg_ntid_x()
#define SYNC __syncthreads()
#define ADD(address, value) __nvvm_atom_add_gen_i(address, value)
#else
#define TID threadIdx.x
#define BLOCK blockIdx.x
#define SIZE blockDim.x
#define SYNC __syncthreads()
#define ADD(address, value) atomicAdd(address, value)
#endif
#define INDEX int i = BLOCK * SIZE + TID
#define KERNEL extern "C" __global__ void

__constant__ int weights[8] = {3, -1, 4, 1, -5, 9, 2, 6};

KERNEL affine(const int *in, int *out, int n) {
    INDEX;
    if (i < n)
        out[i] = in[i] * 7 - 3;
}

// The sum of a block through shared memory.
KERNEL reduce(const int *in, int *out, int n) {
    __shared__ int part[256];
    INDEX;
    part[TID] = i < n ? in[i] : 0;
    SYNC;
    for (unsigned step = SIZE / 2; step > 0; step /= 2) {
        if (TID < step)
            part[TID] += part[TID + step];
        SYNC;
    }
    if (i < n)
        out[i] = part[0] + (int)TID;
}

// A table of branches, or a tree of them.
KERNEL cases(const int *in, int *out, int n) {
    INDEX;
    if (i >= n)
        return;
    int x = in[i], y = 0;
    switch (x & 7) {
    case 0: y = x + 11; break;
    case 1: y = x * 3; // falls through
    case 2: y -= 5; break;
    case 3: y = x ^ 0x55; break;
    case 4: y = x / 3; break;
    case 5: y = x % 10; break;
    case 6: y = -x; break;
    default: y = weights[(x >> 3) & 7];
    }
    out[i] = y;
}

// Loops of different lengths, with a way out in the middle.
KERNEL collatz(const int *in, int *out, int n) {
    INDEX;
    if (i >= n)
        return;
    unsigned x = (unsigned)(in[i] & 1023) + 1;
    int steps = 0;
    while (x != 1) {
        x = x % 2 ? 3 * x + 1 : x / 2;
        if (++steps > 60)
            break;
    }
    out[i] = steps * 1000 + (int)(x % 1000);
}

// An array that must lie in memory.
KERNEL array(const int *in, int *out, int n) {
    INDEX;
    if (i >= n)
        return;
    int held[16];
    for (int k = 0; k < 16; k++)
        held[k] = in[i] + k * k;
    int at = in[i] & 15;
    for (int k = 0; k < 20; k++) {
        int other = (at * 5 + 3) & 15;
        int swap = held[at];
        held[at] = held[other];
        held[other] = swap + k;
        at = other;
    }
    out[i] = held[in[i] >> 4 & 15];
}

struct Pair {
    int first;
    long long second;
};

__device__ __noinline__ Pair turned(Pair p, int by) {
    Pair q;
    q.first = (int)(p.second >> 3) - by;
    q.second = (long long)p.first * 1000003 + by;
    return q;
}

__device__ __noinline__ int power(int base, int exponent) {
    if (exponent == 0)
        return 1;
    int half = power(base, exponent / 2);
    return half * half * (exponent % 2 ? base : 1);
}

// Structures by value, and a function that calls itself.
KERNEL calls(const int *in, int *out, int n) {
    INDEX;
    if (i >= n)
        return;
    Pair p = {in[i], (long long)in[i] * in[i]};
    for (int k = 0; k < 3; k++)
        p = turned(p, k);
    out[i] = p.first + (int)p.second + power(3, in[i] & 7);
}

// All sums and products are exact, so that it does not matter whether they are fused.
KERNEL numbers(const int *in, int *out, int n) {
    INDEX;
    if (i >= n)
        return;
    float x = (float)(in[i] & 255);
    double y = (double)(in[i] >> 8 & 255);
    float z = x * 0.5f + 3.0f;
    double w = y * 0.25 - 7.0;
    int a = (int)(z * 4.0f), b = (int)(w * 8.0);
    if (z > w)
        a += 1;
    if (x == 3.0f || y != y)
        b -= 9;
    out[i] = a * 4096 + b;
}

// Bytes, halves and long words.
KERNEL widths(const int *in, int *out, int n) {
    INDEX;
    if (i >= n)
        return;
    const signed char *bytes = (const signed char *)&in[i];
    const unsigned short *halves = (const unsigned short *)&in[i];
    unsigned long long wide = (unsigned long long)(unsigned)in[i] * 0x100000001ull;
    wide ^= wide >> 17;
    out[i] = bytes[0] + bytes[3] * 5 + halves[1] * 7 + (int)(wide >> 40) + (int)(wide % 1000);
}

// Threads of a warp talk, and all threads add to one place.
KERNEL together(const int *in, int *out, int n) {
    INDEX;
    if (i >= n)
        return;
    int mine = in[i] & 0xffff, got;
    asm volatile("shfl.sync.bfly.b32 %0, %1, 5, 0x1f, 0xffffffff;" : "=r"(got) : "r"(mine));
    __shared__ int total;
    if (TID == 0)
        total = 0;
    SYNC;
    ADD(&total, got - mine / 2);
    SYNC;
    out[i] = total + got;
}
