// Bits and integers.
#pragma once

WARPSIM_FUNCTION int __popc(unsigned x) { return __builtin_popcount(x); }
WARPSIM_FUNCTION int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
WARPSIM_FUNCTION int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
WARPSIM_FUNCTION int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
WARPSIM_FUNCTION int __ffs(int x) { return __builtin_ffs(x); }
WARPSIM_FUNCTION int __ffsll(long long x) { return __builtin_ffsll(x); }
WARPSIM_FUNCTION unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
WARPSIM_FUNCTION unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
WARPSIM_FUNCTION int __mulhi(int a, int b) { return (int)(((long long)a * b) >> 32); }
WARPSIM_FUNCTION unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a * b) >> 32); }
WARPSIM_FUNCTION long long __mul64hi(long long a, long long b) {
    long long r;
    asm("mul.hi.s64 %0, %1, %2;" : "=l"(r) : "l"(a), "l"(b));
    return r;
}
WARPSIM_FUNCTION unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    unsigned long long r;
    asm("mul.hi.u64 %0, %1, %2;" : "=l"(r) : "l"(a), "l"(b));
    return r;
}
WARPSIM_FUNCTION int __mul24(int a, int b) { return ((a << 8) >> 8) * ((b << 8) >> 8); }
WARPSIM_FUNCTION unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffffu) * (b & 0xffffffu); }
WARPSIM_FUNCTION unsigned __sad(int a, int b, unsigned c) { return c + (unsigned)(a > b ? a - b : b - a); }
WARPSIM_FUNCTION unsigned __usad(unsigned a, unsigned b, unsigned c) { return c + (a > b ? a - b : b - a); }
WARPSIM_FUNCTION int __hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }
WARPSIM_FUNCTION int __rhadd(int a, int b) { return (int)(((long long)a + b + 1) >> 1); }
WARPSIM_FUNCTION unsigned __uhadd(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a + b) >> 1); }
WARPSIM_FUNCTION unsigned __urhadd(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a + b + 1) >> 1); }
WARPSIM_FUNCTION unsigned __byte_perm(unsigned a, unsigned b, unsigned s) {
    unsigned r;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(s & 0x7777));
    return r;
}
#define WARPSIM_FUNNEL(NAME, FORM)                                                                 \
    WARPSIM_FUNCTION unsigned NAME(unsigned lo, unsigned hi, unsigned by) {                        \
        unsigned r;                                                                                \
        asm("shf." FORM ".b32 %0, %1, %2, %3;" : "=r"(r) : "r"(lo), "r"(hi), "r"(by));             \
        return r;                                                                                  \
    }
WARPSIM_FUNNEL(__funnelshift_l, "l.wrap")
WARPSIM_FUNNEL(__funnelshift_lc, "l.clamp")
WARPSIM_FUNNEL(__funnelshift_r, "r.wrap")
WARPSIM_FUNNEL(__funnelshift_rc, "r.clamp")
#undef WARPSIM_FUNNEL
WARPSIM_FUNCTION int __dp4a(int a, int b, int c) {
    int r;
    asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    return r;
}
WARPSIM_FUNCTION unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
    unsigned r;
    asm("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    return r;
}
WARPSIM_FUNCTION unsigned __fns(unsigned mask, unsigned base, int offset) {
    unsigned r;
    asm("fns.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(mask), "r"(base), "r"(offset));
    return r;
}
