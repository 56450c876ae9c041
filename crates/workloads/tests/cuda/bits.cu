#include <math.h>
#include "check.h"

KERNEL(bit_operations) {
    unsigned v = zero + 0x00f0u;
    CHECK(__popc(v) == 4 && __popcll(zero + 0xf00000000full) == 8);
    CHECK(__clz(v) == 24 && __clz(zero) == 32 && __clzll(zero + 1ll) == 63 && __clzll((long long)zero) == 64);
    CHECK(__brev(v) == 0x0f000000u && __brevll(zero + 1ull) == 1ull << 63);
    CHECK(__ffs(v) == 5 && __ffs(zero) == 0 && __ffsll(zero + (1ll << 40)) == 41);
    CHECK(__umulhi(zero + 0xffffffffu, 2u) == 1 && __mulhi(zero - 1, 1) == -1);
    CHECK(__umul64hi(zero + ~0ull, 2ull) == 1 && __mul64hi(zero - 1ll, 1ll) == -1);
    CHECK(__mul24(zero + 3, 5) == 15 && __umul24(zero + 3u, 5u) == 15);
    CHECK(__sad(zero - 3, 4, 1u) == 8 && __usad(zero + 3u, 4u, 1u) == 2);
    CHECK(__byte_perm(zero + 0x33221100u, 0x77665544u, 0x7531u) == 0x77553311u);
    CHECK(__funnelshift_l(zero + 0x80000000u, 1u, 1) == 3u && __funnelshift_r(zero + 1u, 1u, 1) == 0x80000000u);
    CHECK(__hadd(zero + 3, 6) == 4 && __rhadd(zero + 3, 6) == 5 && __uhadd(zero + 3u, 6u) == 4);
    CHECK(__dp4a(zero + 0x01010101, 0x02030405, 1) == 15);
    CHECK(__float_as_int(zero + 1.0f) == 0x3f800000 && __int_as_float(zero + 0x3f800000) == 1.0f);
    CHECK(__float_as_uint(zero - 0.5f) == 0xbf000000u && __uint_as_float(zero + 0xbf000000u) == -0.5f);
    CHECK(__double_as_longlong(zero + 1.0) == 0x3ff0000000000000ll && __longlong_as_double(zero + 0x3ff0000000000000ll) == 1.0);
    CHECK(__double2hiint(zero + 1.0) == 0x3ff00000 && __hiloint2double(zero + 0x3ff00000, 0) == 1.0);
}

KERNEL(conversions) {
    CHECK(__float2int_rn(zero + 2.5f) == 2 && __float2int_rz(zero - 2.5f) == -2 && __float2int_ru(zero + 2.1f) == 3);
    CHECK(__float2int_rd(zero - 2.1f) == -3 && __float2uint_rn(zero + 3.7f) == 4u);
    CHECK(__double2int_rn(zero + 3.5) == 4 && __double2ll_rz(zero + 5e9) == 5000000000ll);
    CHECK(__int2float_rn(zero + 16777217) == 16777216.0f && __int2float_ru(zero + 16777217) == 16777218.0f);
    CHECK(__double2float_rn(zero + 0.1) == 0.1f && __uint2double_rn(zero + 3u) == 3.0 && __ll2float_rz(zero + 5ll) == 5.0f);
    CHECK(__fadd_rn(zero + 1.0f, 2.0f) == 3.0f && __fmul_rz(zero + 1.5f, 2.0f) == 3.0f && __fdiv_rn(zero + 1.0f, 4.0f) == 0.25f);
    CHECK(__fadd_ru(zero + 1.0f, 1e-10f) > 1.0f && __fadd_rd(zero + 1.0f, 1e-10f) == 1.0f && __fsub_rn(zero + 1.0f, 2.0f) == -1.0f);
    CHECK(__fmaf_rn(zero + 2.0f, 3.0f, 4.0f) == 10.0f && __fma_rn(zero + 2.0, 3.0, 4.0) == 10.0);
    CHECK(__fsqrt_rn(zero + 4.0f) == 2.0f && __frcp_rn(zero + 4.0f) == 0.25f && __dadd_rn(zero + 1.0, 2.0) == 3.0);
    CHECK(__dmul_rn(zero + 1.5, 2.0) == 3.0 && __ddiv_rn(zero + 1.0, 4.0) == 0.25 && __dsqrt_rn(zero + 4.0) == 2.0);
    CHECK(__saturatef(zero + 1.5f) == 1.0f && __frsqrt_rn(zero + 4.0f) == 0.5f);
}

KERNEL(rounding) {
    CHECK(floorf(zero - 0.5f) == -1.0f && ceilf(zero + 0.5f) == 1.0f && truncf(zero - 1.5f) == -1.0f);
    CHECK(roundf(zero + 2.5f) == 3.0f && roundf(zero - 2.5f) == -3.0f && round(zero + 0.49999999999999994) == 0.0);
    CHECK(rintf(zero + 2.5f) == 2.0f && rint(zero + 3.5) == 4.0 && nearbyintf(zero + 1.5f) == 2.0f);
    CHECK(lroundf(zero + 2.5f) == 3 && llround(zero + 2.5) == 3 && lrint(zero + 2.5) == 2);
    CHECK(fmodf(zero + 5.5f, 2.0f) == 1.5f && fmod(zero - 5.5, 2.0) == -1.5 && fmod(zero + 1e300, 3.0) == fmod(1e300, zero + 3.0));
    CHECK(remainderf(zero + 5.5f, 2.0f) == -0.5f && remainder(zero + 5.0, 2.0) == 1.0 && remainder(zero + 7.0, 2.0) == -1.0);
    CHECK(copysignf(zero + 2.0f, -0.0f) == -2.0f && fdimf(zero + 3.0f, 1.0f) == 2.0f && fdim(zero + 1.0, 3.0) == 0.0);
    int e;
    CHECK(frexpf(zero + 12.0f, &e) == 0.75f && e == 4 && frexp(zero - 0.1, &e) == -0.8 && e == -3);
    CHECK(ldexpf(zero + 0.75f, 4) == 12.0f && ldexp(zero + 1.0, -1074) == 4.9406564584124654e-324 && scalbnf(zero + 1.0f, 3) == 8.0f);
    float whole;
    CHECK(modff(zero - 2.25f, &whole) == -0.25f && whole == -2.0f && ilogbf(zero + 9.0f) == 3 && logb(zero + 0.3) == -2.0);
    CHECK(isnan(zero + NAN) && isinf(INFINITY + zero) && isfinite(zero + 1.0) && signbit(zero - 1.0f) && !isnan(zero + 1.0f));
    CHECK(fmaf(zero + 2.0f, 3.0f, 4.0f) == 10.0f && fma(zero + 2.0, 3.0, 4.0) == 10.0);
    CHECK(hypotf(zero + 3.0f, 4.0f) == 5.0f && fabs(hypot(zero + 3e200, 4e200) - 5e200) < 2e185);
}
