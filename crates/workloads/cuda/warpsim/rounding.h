// Operations that round once: square roots, divisions, fused products, whole numbers; and questions
// about the kind of a number.
#pragma once

namespace warpsim {
WARPSIM_FUNCTION float fma_of(float a, float b, float c) { return __nvvm_fma_rn_f(a, b, c); }
WARPSIM_FUNCTION double fma_of(double a, double b, double c) { return __nvvm_fma_rn_d(a, b, c); }
// A product that the compiler does not fuse with a sum: what it lost to rounding is counted apart.
// (The builtin of the same name becomes an ordinary product, which is fused.)
WARPSIM_FUNCTION float product(float a, float b) {
    float r;
    asm("mul.rn.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
    return r;
}
WARPSIM_FUNCTION double product(double a, double b) {
    double r;
    asm("mul.rn.f64 %0, %1, %2;" : "=d"(r) : "d"(a), "d"(b));
    return r;
}
} // namespace warpsim

WARPSIM_FUNCTION float fmaf(float a, float b, float c) { return __nvvm_fma_rn_f(a, b, c); }
WARPSIM_FUNCTION double fma(double a, double b, double c) { return __nvvm_fma_rn_d(a, b, c); }
WARPSIM_FUNCTION float fma(float a, float b, float c) { return __nvvm_fma_rn_f(a, b, c); }
WARPSIM_FUNCTION float sqrtf(float x) { return __nvvm_sqrt_rn_f(x); }
WARPSIM_FUNCTION double sqrt(double x) { return __nvvm_sqrt_rn_d(x); }

#define WARPSIM_WHOLE(NAME, BUILTIN)                                                               \
    WARPSIM_FUNCTION float NAME##f(float x) { return BUILTIN##f(x); }                              \
    WARPSIM_FUNCTION double NAME(double x) { return BUILTIN(x); }
WARPSIM_WHOLE(floor, __builtin_floor)
WARPSIM_WHOLE(ceil, __builtin_ceil)
WARPSIM_WHOLE(trunc, __builtin_trunc)
#undef WARPSIM_WHOLE
WARPSIM_FUNCTION float rintf(float x) {
    float r;
    asm("cvt.rni.f32.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}
WARPSIM_FUNCTION double rint(double x) {
    double r;
    asm("cvt.rni.f64.f64 %0, %1;" : "=d"(r) : "d"(x));
    return r;
}
WARPSIM_FUNCTION float nearbyintf(float x) { return rintf(x); }
WARPSIM_FUNCTION double nearbyint(double x) { return rint(x); }
WARPSIM_FUNCTION float copysignf(float x, float y) { return __builtin_copysignf(x, y); }
WARPSIM_FUNCTION double copysign(double x, double y) { return __builtin_copysign(x, y); }
WARPSIM_FUNCTION float copysign(float x, float y) { return __builtin_copysignf(x, y); }
// Halves away from zero.
WARPSIM_FUNCTION float roundf(float x) {
    float t = truncf(x);
    return __builtin_copysignf(fabsf(x - t) >= 0.5f ? t + copysignf(1.0f, x) : t, x);
}
WARPSIM_FUNCTION double round(double x) {
    double t = trunc(x);
    return __builtin_copysign(fabs(x - t) >= 0.5 ? t + copysign(1.0, x) : t, x);
}
WARPSIM_FUNCTION long lroundf(float x) { return (long)roundf(x); }
WARPSIM_FUNCTION long lround(double x) { return (long)round(x); }
WARPSIM_FUNCTION long long llroundf(float x) { return (long long)roundf(x); }
WARPSIM_FUNCTION long long llround(double x) { return (long long)round(x); }
WARPSIM_FUNCTION long lrintf(float x) { return (long)rintf(x); }
WARPSIM_FUNCTION long lrint(double x) { return (long)rint(x); }
WARPSIM_FUNCTION long long llrintf(float x) { return (long long)rintf(x); }
WARPSIM_FUNCTION long long llrint(double x) { return (long long)rint(x); }
WARPSIM_FUNCTION float fdimf(float a, float b) { return a <= b ? 0.0f : a - b; }
WARPSIM_FUNCTION double fdim(double a, double b) { return a <= b ? 0.0 : a - b; }

#define WARPSIM_KIND(T)                                                                            \
    WARPSIM_FUNCTION bool isnan(T x) { return x != x; }                                            \
    WARPSIM_FUNCTION bool isinf(T x) { return fabs(x) == (T)__builtin_inf(); }                     \
    WARPSIM_FUNCTION bool isfinite(T x) { return fabs(x) < (T)__builtin_inf(); }                   \
    WARPSIM_FUNCTION bool signbit(T x) { return copysign((T)1, x) < 0; }
WARPSIM_KIND(float)
WARPSIM_KIND(double)
#undef WARPSIM_KIND
WARPSIM_FUNCTION float nanf(const char *) { return __builtin_nanf(""); }
WARPSIM_FUNCTION double nan(const char *) { return __builtin_nan(""); }

namespace warpsim {
// A number from its exponent, and x times two to the power n, both in range or not.
WARPSIM_FUNCTION float power_of_two(int n, float) { return __builtin_bit_cast(float, (unsigned)(n + 127) << 23); }
WARPSIM_FUNCTION double power_of_two(int n, double) { return __builtin_bit_cast(double, (unsigned long long)(n + 1023) << 52); }
WARPSIM_FUNCTION float scale(float x, int n) {
    n = n < -300 ? -300 : n > 300 ? 300 : n;
    int a = n / 4;
    int b = n - 3 * a;
    float f = power_of_two(a, x);
    return x * f * f * f * power_of_two(b, x);
}
WARPSIM_FUNCTION double scale(double x, int n) {
    n = n < -2200 ? -2200 : n > 2200 ? 2200 : n;
    int a = n / 4;
    int b = n - 3 * a;
    double f = power_of_two(a, x);
    return x * f * f * f * power_of_two(b, x);
}
// Where the result is in the range of normal numbers and n not far beyond: two factors are enough.
template <class T> WARPSIM_FUNCTION T scale_near(T x, int n) {
    int a = n >> 1;
    return x * power_of_two(a, x) * power_of_two(n - a, x);
}
// Mantissa between 1/sqrt(2) and sqrt(2) and exponent of a positive, finite number.
WARPSIM_FUNCTION float split(float x, int *exponent) {
    int e = 0;
    if (x < 1.17549435e-38f) {
        x *= 8388608.0f;
        e = -23;
    }
    int bits = __builtin_bit_cast(int, x);
    int shift = (bits - 0x3f3504f3) >> 23;
    *exponent = e + shift;
    return __builtin_bit_cast(float, bits - (shift << 23));
}
WARPSIM_FUNCTION double split(double x, int *exponent) {
    int e = 0;
    if (x < 2.2250738585072014e-308) {
        x *= 18014398509481984.0;
        e = -54;
    }
    long long bits = __builtin_bit_cast(long long, x);
    int shift = (int)((bits - 0x3fe6a09e667f3bcdll) >> 52);
    *exponent = e + shift;
    return __builtin_bit_cast(double, bits - ((long long)shift << 52));
}
WARPSIM_FUNCTION float root(float x) { return sqrtf(x); }
WARPSIM_FUNCTION double root(double x) { return sqrt(x); }
WARPSIM_FUNCTION float nearest_whole(float x) { return rintf(x); }
WARPSIM_FUNCTION double nearest_whole(double x) { return rint(x); }
template <class T> WARPSIM_FUNCTION T infinity() { return (T)__builtin_inf(); }
template <class T> WARPSIM_FUNCTION T not_a_number() { return (T)__builtin_nan(""); }
} // namespace warpsim

WARPSIM_FUNCTION float ldexpf(float x, int n) { return warpsim::scale(x, n); }
WARPSIM_FUNCTION double ldexp(double x, int n) { return warpsim::scale(x, n); }
WARPSIM_FUNCTION float scalbnf(float x, int n) { return warpsim::scale(x, n); }
WARPSIM_FUNCTION double scalbn(double x, int n) { return warpsim::scale(x, n); }
#define WARPSIM_PARTS(T, SUFFIX)                                                                   \
    WARPSIM_FUNCTION T frexp##SUFFIX(T x, int *exponent) {                                         \
        *exponent = 0;                                                                             \
        if (x == 0 || !isfinite(x))                                                                \
            return x;                                                                              \
        int e;                                                                                     \
        T m = warpsim::split(fabs(x), &e);                                                         \
        if (m >= 1) {                                                                              \
            m *= (T)0.5;                                                                           \
            e += 1;                                                                                \
        }                                                                                          \
        *exponent = e;                                                                             \
        return copysign(m, x);                                                                     \
    }                                                                                              \
    WARPSIM_FUNCTION int ilogb##SUFFIX(T x) {                                                      \
        if (x == 0 || x != x)                                                                      \
            return (int)0x80000000;                                                                \
        if (isinf(x))                                                                              \
            return 0x7fffffff;                                                                     \
        int e;                                                                                     \
        return warpsim::split(fabs(x), &e) < 1 ? e - 1 : e;                                        \
    }                                                                                              \
    WARPSIM_FUNCTION T modf##SUFFIX(T x, T *whole) {                                               \
        T t = trunc##SUFFIX(x);                                                                    \
        *whole = t;                                                                                \
        return copysign(isinf(x) ? (T)0 : x - t, x);                                               \
    }                                                                                              \
    /* Exact: multiples of y times powers of two are taken away, each without rounding. */        \
    WARPSIM_FUNCTION T fmod##SUFFIX(T x, T y) {                                                    \
        T a = fabs(x);                                                                             \
        T b = fabs(y);                                                                             \
        if (x != x || y != y || isinf(x) || b == 0)                                                \
            return warpsim::not_a_number<T>();                                                     \
        if (a < b)                                                                                 \
            return x;                                                                              \
        int steps = ilogb##SUFFIX(a) - ilogb##SUFFIX(b);                                           \
        for (; steps >= 0; steps--) {                                                              \
            T multiple = ldexp##SUFFIX(b, steps);                                                  \
            if (a >= multiple)                                                                     \
                a -= multiple;                                                                     \
        }                                                                                          \
        return copysign(a, x);                                                                     \
    }                                                                                              \
    WARPSIM_FUNCTION T remainder##SUFFIX(T x, T y) {                                               \
        T b = fabs(y);                                                                             \
        if (x != x || y != y || isinf(x) || b == 0)                                                \
            return warpsim::not_a_number<T>();                                                     \
        if (isinf(b))                                                                              \
            return x;                                                                              \
        T a = fabs(x);                                                                             \
        /* Whether the quotient is odd decides halves. */                                         \
        bool odd = false;                                                                          \
        if (a >= b) {                                                                              \
            int steps = ilogb##SUFFIX(a) - ilogb##SUFFIX(b);                                       \
            for (; steps >= 0; steps--) {                                                          \
                T multiple = ldexp##SUFFIX(b, steps);                                              \
                if (a >= multiple) {                                                               \
                    a -= multiple;                                                                 \
                    odd = steps == 0;                                                              \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
        T rest = b - a;                                                                            \
        if (a > rest || (a == rest && odd))                                                        \
            a = -rest;                                                                             \
        return signbit(x) ? -a : a;                                                                \
    }
WARPSIM_PARTS(float, f)
WARPSIM_PARTS(double, )
#undef WARPSIM_PARTS
