// Half precision: `__half` and `__half2` with arithmetic, comparisons, conversions and the usual names.
// Each operation is one instruction on halves, rounded once.
#pragma once
#include "warpsim_cuda.h"

struct __attribute__((aligned(2))) __half {
    unsigned short bits;
    __half() = default;
    WARPSIM_METHOD __half(float x);
    WARPSIM_METHOD __half(double x);
    WARPSIM_METHOD __half(int x);
    WARPSIM_METHOD operator float() const;
    static WARPSIM_METHOD __half of(unsigned short bits) {
        __half h;
        h.bits = bits;
        return h;
    }
};
struct __attribute__((aligned(4))) __half2 {
    __half x, y;
    __half2() = default;
    WARPSIM_METHOD __half2(__half x, __half y) : x(x), y(y) {}
};
typedef __half half;
typedef __half2 half2;

WARPSIM_FUNCTION __half __float2half_rn(float x) {
    unsigned short r;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r) : "f"(x));
    return __half::of(r);
}
WARPSIM_FUNCTION __half __float2half(float x) { return __float2half_rn(x); }
WARPSIM_FUNCTION __half __float2half_rz(float x) {
    unsigned short r;
    asm("cvt.rz.f16.f32 %0, %1;" : "=h"(r) : "f"(x));
    return __half::of(r);
}
WARPSIM_FUNCTION float __half2float(__half h) {
    float r;
    asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(h.bits));
    return r;
}
WARPSIM_FUNCTION __half __double2half(double x) {
    unsigned short r;
    asm("cvt.rn.f16.f64 %0, %1;" : "=h"(r) : "d"(x));
    return __half::of(r);
}
WARPSIM_FUNCTION __half __int2half_rn(int x) {
    unsigned short r;
    asm("cvt.rn.f16.s32 %0, %1;" : "=h"(r) : "r"(x));
    return __half::of(r);
}
WARPSIM_FUNCTION int __half2int_rn(__half h) { return __float2int_rn(__half2float(h)); }
WARPSIM_FUNCTION int __half2int_rz(__half h) { return __float2int_rz(__half2float(h)); }
WARPSIM_FUNCTION unsigned short __half_as_ushort(__half h) { return h.bits; }
WARPSIM_FUNCTION short __half_as_short(__half h) { return (short)h.bits; }
WARPSIM_FUNCTION __half __ushort_as_half(unsigned short bits) { return __half::of(bits); }
WARPSIM_FUNCTION __half __short_as_half(short bits) { return __half::of((unsigned short)bits); }
WARPSIM_METHOD __half::__half(float x) : bits(__float2half_rn(x).bits) {}
WARPSIM_METHOD __half::__half(double x) : bits(__double2half(x).bits) {}
WARPSIM_METHOD __half::__half(int x) : bits(__int2half_rn(x).bits) {}
WARPSIM_METHOD __half::operator float() const { return __half2float(*this); }

namespace warpsim {
WARPSIM_FUNCTION unsigned packed(__half2 v) { return (unsigned)v.y.bits << 16 | v.x.bits; }
WARPSIM_FUNCTION __half2 unpacked(unsigned v) {
    return __half2(__half::of((unsigned short)v), __half::of((unsigned short)(v >> 16)));
}
} // namespace warpsim

#define WARPSIM_HALF_TWO(NAME, FORM)                                                               \
    WARPSIM_FUNCTION __half NAME(__half a, __half b) {                                             \
        unsigned short r;                                                                          \
        asm(FORM ".f16 %0, %1, %2;" : "=h"(r) : "h"(a.bits), "h"(b.bits));                         \
        return __half::of(r);                                                                      \
    }                                                                                              \
    WARPSIM_FUNCTION __half2 NAME##2(__half2 a, __half2 b) {                                       \
        unsigned r;                                                                                \
        asm(FORM ".f16x2 %0, %1, %2;" : "=r"(r) : "r"(warpsim::packed(a)), "r"(warpsim::packed(b))); \
        return warpsim::unpacked(r);                                                               \
    }
WARPSIM_HALF_TWO(__hadd, "add.rn")
WARPSIM_HALF_TWO(__hsub, "sub.rn")
WARPSIM_HALF_TWO(__hmul, "mul.rn")
WARPSIM_HALF_TWO(__hmin, "min")
WARPSIM_HALF_TWO(__hmax, "max")
#undef WARPSIM_HALF_TWO
WARPSIM_FUNCTION __half __hfma(__half a, __half b, __half c) {
    unsigned short r;
    asm("fma.rn.f16 %0, %1, %2, %3;" : "=h"(r) : "h"(a.bits), "h"(b.bits), "h"(c.bits));
    return __half::of(r);
}
WARPSIM_FUNCTION __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
    unsigned r;
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(warpsim::packed(a)), "r"(warpsim::packed(b)), "r"(warpsim::packed(c)));
    return warpsim::unpacked(r);
}
WARPSIM_FUNCTION __half __hneg(__half a) { return __half::of(a.bits ^ 0x8000); }
WARPSIM_FUNCTION __half __habs(__half a) { return __half::of(a.bits & 0x7fff); }
// A quotient of floats, rounded to a half, is that of the halves: a float has twice the bits and two more.
WARPSIM_FUNCTION __half __hdiv(__half a, __half b) { return __float2half_rn(__half2float(a) / __half2float(b)); }
WARPSIM_FUNCTION __half hsqrt(__half a) { return __float2half_rn(sqrtf(__half2float(a))); }
WARPSIM_FUNCTION __half hrsqrt(__half a) { return __float2half_rn(rsqrtf(__half2float(a))); }
WARPSIM_FUNCTION __half hexp(__half a) { return __float2half_rn(expf(__half2float(a))); }
WARPSIM_FUNCTION __half hlog(__half a) { return __float2half_rn(logf(__half2float(a))); }
WARPSIM_FUNCTION bool __heq(__half a, __half b) { return __half2float(a) == __half2float(b); }
WARPSIM_FUNCTION bool __hne(__half a, __half b) { return __half2float(a) != __half2float(b); }
WARPSIM_FUNCTION bool __hlt(__half a, __half b) { return __half2float(a) < __half2float(b); }
WARPSIM_FUNCTION bool __hle(__half a, __half b) { return __half2float(a) <= __half2float(b); }
WARPSIM_FUNCTION bool __hgt(__half a, __half b) { return __half2float(a) > __half2float(b); }
WARPSIM_FUNCTION bool __hge(__half a, __half b) { return __half2float(a) >= __half2float(b); }
WARPSIM_FUNCTION bool __hisnan(__half a) { return (a.bits & 0x7fff) > 0x7c00; }

WARPSIM_FUNCTION __half operator+(__half a, __half b) { return __hadd(a, b); }
WARPSIM_FUNCTION __half operator-(__half a, __half b) { return __hsub(a, b); }
WARPSIM_FUNCTION __half operator*(__half a, __half b) { return __hmul(a, b); }
WARPSIM_FUNCTION __half operator/(__half a, __half b) { return __hdiv(a, b); }
WARPSIM_FUNCTION __half operator-(__half a) { return __hneg(a); }
WARPSIM_FUNCTION __half &operator+=(__half &a, __half b) { return a = a + b; }
WARPSIM_FUNCTION __half &operator-=(__half &a, __half b) { return a = a - b; }
WARPSIM_FUNCTION __half &operator*=(__half &a, __half b) { return a = a * b; }
WARPSIM_FUNCTION bool operator==(__half a, __half b) { return __heq(a, b); }
WARPSIM_FUNCTION bool operator!=(__half a, __half b) { return __hne(a, b); }
WARPSIM_FUNCTION bool operator<(__half a, __half b) { return __hlt(a, b); }
WARPSIM_FUNCTION bool operator<=(__half a, __half b) { return __hle(a, b); }
WARPSIM_FUNCTION bool operator>(__half a, __half b) { return __hgt(a, b); }
WARPSIM_FUNCTION bool operator>=(__half a, __half b) { return __hge(a, b); }
WARPSIM_FUNCTION __half2 operator+(__half2 a, __half2 b) { return __hadd2(a, b); }
WARPSIM_FUNCTION __half2 operator-(__half2 a, __half2 b) { return __hsub2(a, b); }
WARPSIM_FUNCTION __half2 operator*(__half2 a, __half2 b) { return __hmul2(a, b); }

WARPSIM_FUNCTION __half2 __halves2half2(__half a, __half b) { return __half2(a, b); }
WARPSIM_FUNCTION __half2 make_half2(__half a, __half b) { return __half2(a, b); }
WARPSIM_FUNCTION __half2 __half2half2(__half a) { return __half2(a, a); }
WARPSIM_FUNCTION __half __low2half(__half2 v) { return v.x; }
WARPSIM_FUNCTION __half __high2half(__half2 v) { return v.y; }
WARPSIM_FUNCTION float __low2float(__half2 v) { return __half2float(v.x); }
WARPSIM_FUNCTION float __high2float(__half2 v) { return __half2float(v.y); }
WARPSIM_FUNCTION __half2 __floats2half2_rn(float a, float b) { return __half2(__float2half_rn(a), __float2half_rn(b)); }
WARPSIM_FUNCTION __half2 __float2half2_rn(float a) { return __half2half2(__float2half_rn(a)); }
WARPSIM_FUNCTION __half2 __float22half2_rn(float2 v) { return __floats2half2_rn(v.x, v.y); }
WARPSIM_FUNCTION float2 __half22float2(__half2 v) { return {__half2float(v.x), __half2float(v.y)}; }

#define WARPSIM_HALF_SHUFFLE(NAME, BY)                                                             \
    WARPSIM_FUNCTION __half NAME(unsigned mask, __half v, BY by, int width = 32) {                 \
        return __half::of((unsigned short)NAME(mask, (unsigned)v.bits, by, width));                \
    }                                                                                              \
    WARPSIM_FUNCTION __half2 NAME(unsigned mask, __half2 v, BY by, int width = 32) {               \
        return warpsim::unpacked(NAME(mask, warpsim::packed(v), by, width));                       \
    }
WARPSIM_HALF_SHUFFLE(__shfl_sync, int)
WARPSIM_HALF_SHUFFLE(__shfl_up_sync, unsigned)
WARPSIM_HALF_SHUFFLE(__shfl_down_sync, unsigned)
WARPSIM_HALF_SHUFFLE(__shfl_xor_sync, int)
#undef WARPSIM_HALF_SHUFFLE
