// Sines, cosines, tangents and their inverses.
#pragma once

namespace warpsim {
// 2/pi after the point.
static __constant__ const unsigned long long two_over_pi[20] = {
    0xa2f9836e4e441529ull, 0xfc2757d1f534ddc0ull, 0xdb6295993c439041ull, 0xfe5163abdebbc561ull, 0xb7246e3a424dd2e0ull,
    0x06492eea09d1921cull, 0xfe1deb1cb129a73eull, 0xe88235f52ebb4484ull, 0xe99c7026b45f7e41ull, 0x3991d639835339f4ull,
    0x9c845f8bbdf9283bull, 0x1ff897ffde05980full, 0xef2f118b5a0a6d1full, 0x6d367ecf27cb09b7ull, 0x4f463f669e5fea2dull,
    0x7527bac7ebe5f17bull, 0x3d0739f78a5292eaull, 0x6bfb5fb11f8d5d08ull, 0x56033046fc7b6babull, 0xf0cfbc209af4361dull};

// What is left of x >= 1 after its nearest multiple of pi/2, in two parts, and which multiple modulo 4.
// For numbers too large to subtract a product: mantissa times those 192 bits of 2/pi that decide the
// quotient modulo 4 and its fraction.
WARPSIM_FUNCTION double reduce_large(double x, double *low, int *quarter) {
    unsigned long long bits = __builtin_bit_cast(unsigned long long, x);
    int e = (int)(bits >> 52 & 0x7ff) - 1075;
    unsigned long long m = (bits & 0xfffffffffffffull) | 0x10000000000000ull;
    // Bits of 2/pi before this one give multiples of 4.
    int first = e > 2 ? e - 2 : 0;
    int word = first >> 6;
    int shift = first & 63;
    unsigned long long w[3];
    for (int i = 0; i < 3; i++) {
        w[i] = two_over_pi[word + i] << shift;
        if (shift)
            w[i] |= two_over_pi[word + i + 1] >> (64 - shift);
    }
    // The product, then shifted so that its top two bits are the quarter turns.
    unsigned long long p3 = m * w[2];
    unsigned long long p2 = m * w[1];
    unsigned long long p1 = m * w[0];
    unsigned long long p0 = __umul64hi(m, w[0]);
    unsigned long long add = __umul64hi(m, w[2]);
    p2 += add;
    add = __umul64hi(m, w[1]) + (p2 < add);
    p1 += add;
    p0 += p1 < add;
    int down = e >= 2 ? 0 : 2 - e;
    unsigned long long high = p1, mid = p2;
    if (down) {
        high = p0 << (64 - down) | p1 >> down;
        mid = p1 << (64 - down) | p2 >> down;
    } else {
        mid = p2;
    }
    unsigned long long rest = down ? p2 << (64 - down) | p3 >> down : p3;
    int q = (int)(high >> 62);
    high = high << 2 | mid >> 62;
    mid = mid << 2 | rest >> 62;
    // The nearer multiple: more than half a quarter turn counts from the next one.
    bool negative = high >> 63;
    if (negative) {
        q += 1;
        mid = ~mid + 1;
        high = ~high + (mid == 0);
    }
    *quarter = q & 3;
    int zeros = __clzll((long long)high);
    if (zeros) {
        high = high << zeros | mid >> (64 - zeros);
        mid <<= zeros;
    }
    double f = (double)(high >> 11) * power_of_two(-53 - zeros, 0.0);
    double f_low = (double)((high << 53 | mid >> 11) >> 11) * power_of_two(-106 - zeros, 0.0);
    double r = product(f, 1.570796326794896558);
    double r_low = fma_of(f, 1.570796326794896558, -r) + f * 6.123233995736766e-17 + f_low * 1.570796326794896558;
    *low = negative ? -r_low : r_low;
    return negative ? -r : r;
}
// The same for any finite number, negative ones included.
WARPSIM_FUNCTION double reduce(double x, double *low, int *quarter) {
    if (fabs(x) > 100000.0) {
        double r = reduce_large(fabs(x), low, quarter);
        if (x < 0) {
            *low = -*low;
            *quarter = -*quarter & 3;
            return -r;
        }
        return r;
    }
    double n = rint(x * 0.63661977236758138243);
    *quarter = (int)n & 3;
    // Exact: the product's bits below those of x are the remainder's.
    double r = fma_of(n, -1.570796326794896558, x);
    double t = product(n, 6.123233995736766e-17);
    double t_low = fma_of(n, 6.123233995736766e-17, -t);
    double high = r - t;
    *low = (r - high) - t - t_low + n * 1.4973849048591698e-33;
    return high;
}
WARPSIM_FUNCTION float reduce(float x, float *low, int *quarter) {
    *low = 0;
    if (fabsf(x) > 50000.0f) {
        double rest;
        double r = reduce((double)x, &rest, quarter);
        float high = (float)r;
        *low = (float)(r - high);
        return high;
    }
    float n = rintf(x * 0.636619747f);
    *quarter = (int)n & 3;
    float r = fma_of(n, -1.57079637f, x);
    float high = fma_of(n, 4.37113883e-8f, r);
    *low = fma_of(n, 4.37113883e-8f, r - high) + n * 1.71512451e-15f;
    return high;
}
template <class T> WARPSIM_FUNCTION T sin_near(T r, T low) {
    T z = r * r;
    return r + fma_of(z * r, sin_tail(z), low);
}
template <class T> WARPSIM_FUNCTION T cos_near(T r, T low) {
    T z = r * r;
    T half = z * (T)0.5;
    T w = 1 - half;
    return w + (((1 - w) - half) + fma_of(z * z, cos_tail(z), -r * low));
}
template <class T> WARPSIM_FUNCTION void sincos_of(T x, T *sine, T *cosine) {
    if (!isfinite(x)) {
        *sine = *cosine = not_a_number<T>();
        return;
    }
    T low;
    int quarter;
    T r = reduce(x, &low, &quarter);
    T s = sin_near(r, low);
    T c = cos_near(r, low);
    T a = quarter & 1 ? c : s;
    T b = quarter & 1 ? s : c;
    // The sign of zero is kept.
    *sine = x == 0 ? x : quarter & 2 ? -a : a;
    *cosine = (quarter + 1) & 2 ? -b : b;
}
template <class T> WARPSIM_FUNCTION T sin_of(T x) {
    T s, c;
    sincos_of(x, &s, &c);
    return s;
}
template <class T> WARPSIM_FUNCTION T cos_of(T x) {
    T s, c;
    sincos_of(x, &s, &c);
    return c;
}
template <class T> WARPSIM_FUNCTION T tan_of(T x) {
    T s, c;
    sincos_of(x, &s, &c);
    return s / c;
}
// Of pi x: the nearest half is taken away without rounding.
template <class T> WARPSIM_FUNCTION void sincospi_of(T x, T *sine, T *cosine) {
    if (!isfinite(x)) {
        *sine = *cosine = not_a_number<T>();
        return;
    }
    T turns = x - 2 * nearest_whole(x * (T)0.5);
    T n = nearest_whole(2 * turns);
    T f = turns - n * (T)0.5;
    T pi = (T)3.141592653589793116;
    T pi_low = (T)(sizeof(T) == 4 ? -8.7422776573475858e-8 : 1.2246467991473532e-16);
    T r = product(f, pi);
    T low = fma_of(f, pi, -r) + f * pi_low;
    T s = sin_near(r, low);
    T c = cos_near(r, low);
    int quarter = (int)n & 3;
    T a = quarter & 1 ? c : s;
    T b = quarter & 1 ? s : c;
    *sine = quarter & 2 ? -a : a;
    *cosine = (quarter + 1) & 2 ? -b : b;
}
// The angle of y / x for both positive or zero and not both zero, between 0 and pi/2: of the smaller by
// the larger, and past tan(pi/8) from 45 degrees on.
template <class T> WARPSIM_FUNCTION T angle(T y, T x) {
    bool steep = y > x;
    T large = steep ? y : x;
    T small = steep ? x : y;
    bool past = small > (T)0.41421356237309503 * large;
    T r = past ? (small - large) / (small + large) : small / large;
    T z = r * r;
    T a = fma_of(r * z, atan_tail(z), r);
    T low_scale = (T)(sizeof(T) == 4 ? -4.3711388286737929e-8 : 6.1232339957367660e-17);
    T quarter = (T)1.570796326794896558;
    if (past)
        a = (T)0.5 * quarter + (a + (T)0.5 * low_scale);
    return steep ? quarter - (a - low_scale) : a;
}
template <class T> WARPSIM_FUNCTION T atan_of(T x) {
    if (x != x || x == 0)
        return x;
    return copysign(isinf(x) ? (T)1.570796326794896558 : angle(fabs(x), (T)1), x);
}
template <class T> WARPSIM_FUNCTION T atan2_of(T y, T x) {
    if (x != x || y != y)
        return x + y;
    T a = fabs(y);
    T b = fabs(x);
    T r;
    if (isinf(a) && isinf(b))
        r = (T)0.78539816339744828;
    else if (a == 0)
        r = 0;
    else if (isinf(b))
        r = 0;
    else if (isinf(a) || b == 0)
        r = (T)1.570796326794896558;
    else
        r = angle(a, b);
    if (signbit(x)) {
        T pi_low = (T)(sizeof(T) == 4 ? -8.7422776573475858e-8 : 1.2246467991473532e-16);
        r = (T)3.141592653589793116 - (r - pi_low);
    }
    return copysign(r, y);
}
template <class T> WARPSIM_FUNCTION T asin_of(T x) {
    T a = fabs(x);
    if (!(a <= 1))
        return not_a_number<T>();
    return a == 0 ? x : copysign(angle(a, root((1 - a) * (1 + a))), x);
}
template <class T> WARPSIM_FUNCTION T acos_of(T x) {
    if (!(fabs(x) <= 1))
        return not_a_number<T>();
    return 2 * angle(root(1 - x), root(1 + x));
}
} // namespace warpsim
