// Exponentials, logarithms and powers. One text for float and double where the method is the same.
#pragma once

namespace warpsim {
WARPSIM_FUNCTION float ex2(float x) { return __nvvm_ex2_approx_f(x); }

// ln(2) in two parts, the first with so few bits that a multiple of it is exact.
WARPSIM_FUNCTION float ln2_high(float) { return 0.693145752f; }
WARPSIM_FUNCTION float ln2_low(float) { return 1.42860677e-6f; }
WARPSIM_FUNCTION double ln2_high(double) { return 0.69314718036912381649; }
WARPSIM_FUNCTION double ln2_low(double) { return 1.9082149292705877e-10; }

// exp(x) - 1 for |x| up to ln(2) / 2.
template <class T> WARPSIM_FUNCTION T expm1_near(T r) { return fma_of(exp_tail(r), r * r, r); }

// What is left of x in range after n ln(2).
template <class T> WARPSIM_FUNCTION T exp_reduced(T x, T *n) {
    T least = (T)(sizeof(T) == 4 ? -110 : -760);
    T most = (T)(sizeof(T) == 4 ? 100 : 720);
    T clamped = fmin(fmax(x, least), most);
    *n = nearest_whole(clamped * (T)1.442695040888963387);
    return fma_of(*n, -ln2_low(x), fma_of(*n, -ln2_high(x), clamped));
}
// The float's exponential ends in the special-function unit, as CUDA's does.
WARPSIM_FUNCTION float exp_near(float r) { return ex2(r * 1.44269502f); }
WARPSIM_FUNCTION double exp_near(double r) { return 1.0 + expm1_near(r); }
template <class T> WARPSIM_FUNCTION T exp_of(T x) {
    T n;
    T r = exp_reduced(x, &n);
    T y = scale_near(exp_near(r), (int)n);
    return x != x ? x : y;
}
// exp(x + low), low small beside x.
template <class T> WARPSIM_FUNCTION T exp_of(T x, T low) {
    T n;
    T r = exp_reduced(x, &n) + low;
    T y = scale_near(exp_near(r), (int)n);
    return x != x ? x : y;
}
WARPSIM_FUNCTION float exp2_of(float x) {
    // The unit flushes denormal results: those are made from larger ones.
    bool tiny = x < -126.0f;
    float y = ex2(tiny ? x + 24.0f : x);
    return tiny ? y * 5.96046448e-8f : y;
}
WARPSIM_FUNCTION double exp2_of(double x) {
    double clamped = fmin(fmax(x, -1100.0), 1030.0);
    double n = nearest_whole(clamped);
    double f = clamped - n;
    double r = product(f, 0.69314718055994528623);
    double low = fma_of(f, 0.69314718055994528623, -r) + f * 2.3190468138462995584e-17;
    double y = scale_near(1.0 + (expm1_near(r) + low), (int)n);
    return x != x ? x : y;
}
template <class T> WARPSIM_FUNCTION T exp10_of(T x) {
    // x ln(10) in two parts.
    T ln10 = (T)2.3025850929940459011;
    T ln10_low = (T)(sizeof(T) == 4 ? -3.1975435632602966507e-8 : -2.1707562233822493508e-16);
    T bounded = fmin(fmax(x, (T)-400), (T)400);
    T high = product(bounded, ln10);
    T low = fma_of(bounded, ln10, -high) + bounded * ln10_low;
    T y = exp_of(high, low);
    return x != x ? x : y;
}
template <class T> WARPSIM_FUNCTION T expm1_of(T x) {
    T most = (T)(sizeof(T) == 4 ? 88 : 709);
    if (x != x || x == 0)
        return x;
    if (x > most)
        return exp_of(x) - 1;
    if (x < (T)-40)
        return (T)-1;
    T n = nearest_whole(x * (T)1.442695040888963387);
    T r = fma_of(n, -ln2_low(x), fma_of(n, -ln2_high(x), x));
    T p = expm1_near(r);
    if (n == 0)
        return p;
    T s = power_of_two((int)n - 1, x);
    return 2 * fma_of(s, p, s - (T)0.5);
}

// The logarithm of a mantissa near 1: 2 atanh of (m - 1) / (m + 1).
template <class T> WARPSIM_FUNCTION T log_near(T m) {
    T f = m - 1;
    T s = f / (m + 1);
    T z = s * s;
    // 2 s + s z tail(z), with 2 s = f - s f.
    return f - s * (f - z * log_tail(z));
}
template <class T> WARPSIM_FUNCTION bool log_special(T x, T *result) {
    if (x != x || x == infinity<T>()) {
        *result = x;
        return true;
    }
    if (x <= 0) {
        *result = x == 0 ? -infinity<T>() : not_a_number<T>();
        return true;
    }
    return false;
}
template <class T> WARPSIM_FUNCTION T log_of(T x) {
    T special;
    if (log_special(x, &special))
        return special;
    int e;
    T m = split(x, &e);
    return fma_of((T)e, ln2_high(x), fma_of((T)e, ln2_low(x), log_near(m)));
}
// The logarithm of a mantissa times a constant in two parts, plus the exponent times another.
template <class T> WARPSIM_FUNCTION T log_scaled(T x, T factor, T factor_low, T unit, T unit_low) {
    T special;
    if (log_special(x, &special))
        return special;
    int e;
    T l = log_near(split(x, &e));
    T high = product(l, factor);
    T low = fma_of(l, factor, -high) + l * factor_low;
    T whole = product((T)e, unit);
    T whole_low = fma_of((T)e, unit, -whole) + (T)e * unit_low;
    T sum = whole + high;
    T rest = e ? (whole - sum) + high : 0;
    return sum + (rest + low + whole_low);
}
WARPSIM_FUNCTION float log2_of(float x) { return log_scaled(x, 1.44269502f, 1.92596303e-8f, 1.0f, 0.0f); }
WARPSIM_FUNCTION double log2_of(double x) { return log_scaled(x, 1.442695040888963387, 2.0355273740931033e-17, 1.0, 0.0); }
WARPSIM_FUNCTION float log10_of(float x) { return log_scaled(x, 0.434294492f, -1.010305e-8f, 0.301030010f, -1.4320989e-8f); }
WARPSIM_FUNCTION double log10_of(double x) {
    return log_scaled(x, 0.43429448190325181667, 1.0983196502167651e-17, 0.30102999566398119802, -2.8037281277851704e-18);
}
template <class T> WARPSIM_FUNCTION T log1p_of(T x) {
    if (x != x || x == infinity<T>())
        return x;
    if (x <= -1)
        return x == -1 ? -infinity<T>() : not_a_number<T>();
    if (fabs(x) < (T)(sizeof(T) == 4 ? 3e-8 : 1e-16))
        return x;
    T u = 1 + x;
    // What the sum lost, as the logarithm's slope has it.
    T lost = x >= 1 ? 1 - (u - x) : x - (u - 1);
    return log_of(u) + lost / u;
}

// log(x) of a positive number as a sum of two, for powers.
template <class T> WARPSIM_FUNCTION T log_double(T x, T *low) {
    int e;
    T m = split(x, &e);
    T f = m - 1;
    T d = m + 1;
    T d_low = m - (d - 1);
    T s = f / d;
    T s_low = (fma_of(-s, d, f) - s * d_low) / d;
    // log(m) = 2 s + s^3 (2/3 + tail), each in two parts.
    T z = product(s, s);
    T z_low = fma_of(s, s, -z) + 2 * s * s_low;
    T third = (T)0.66666666666666662966;
    T third_low = (T)(sizeof(T) == 4 ? -1.9868215e-8 : 3.7007434154171883e-17);
    T tail = product(z, log_rest(z));
    // 2/3 + tail, in two parts.
    T a = third + tail;
    T a_low = (third - a) + tail + third_low;
    T sz = product(s, z);
    T sz_low = fma_of(s, z, -sz) + s * z_low + s_low * z;
    T c = product(sz, a);
    T c_low = fma_of(sz, a, -c) + sz * a_low + sz_low * a;
    T two = 2 * s;
    T two_low = 2 * s_low;
    T sum = two + c;
    T sum_low = (two - sum) + c + (two_low + c_low);
    // and the exponent.
    T ln2 = (T)0.69314718055994528623;
    T ln2_rest = (T)(sizeof(T) == 4 ? -1.9046542121259335545e-9 : 2.3190468138462995584e-17);
    T n = product((T)e, ln2);
    T n_low = fma_of((T)e, ln2, -n) + (T)e * ln2_rest;
    T all = n + sum;
    T all_low = (fabs(n) > fabs(sum) ? (n - all) + sum : (sum - all) + n) + (sum_low + n_low);
    T high = all + all_low;
    *low = (all - high) + all_low;
    return high;
}

WARPSIM_FUNCTION float trunc_of(float x) { return truncf(x); }
WARPSIM_FUNCTION double trunc_of(double x) { return trunc(x); }
template <class T> WARPSIM_FUNCTION T pow_of(T x, T y) {
    if (y == 0 || x == 1)
        return 1;
    if (x != x || y != y)
        return x + y;
    bool whole = trunc_of(y) == y;
    bool odd = whole && trunc_of(y * (T)0.5) != y * (T)0.5;
    T a = fabs(x);
    T r;
    if (isinf(y)) {
        if (a == 1)
            return 1;
        return (a > 1) == (y > 0) ? infinity<T>() : 0;
    } else if (a == 0 || isinf(a)) {
        r = (a == 0) == (y > 0) ? 0 : infinity<T>();
    } else if (x < 0 && !whole) {
        return not_a_number<T>();
    } else {
        T low;
        T high = log_double(a, &low);
        T p = product(high, y);
        // Far out of range either way: no need of the small part, which may overflow.
        T limit = (T)(sizeof(T) == 4 ? 120 : 800);
        if (!(fabs(p) < limit)) {
            r = p > 0 ? infinity<T>() : 0;
        } else {
            T p_low = fma_of(high, y, -p) + low * y;
            r = exp_of(p, p_low);
        }
    }
    return x < 0 || (x == 0 && signbit(x)) ? (odd ? -r : r) : r;
}
// A starting value from the exponent, then steps of Newton and a last one with the exact cube.
WARPSIM_FUNCTION float cbrt_of(float x) {
    if (x == 0 || !isfinite(x))
        return x;
    int e;
    float a = fabsf(x);
    float m = split(a, &e);
    int third = (e + 300) / 3 - 100;
    m = scale_near(m, e - 3 * third);
    float t = ex2(__nvvm_lg2_approx_f(m) * 0.333333343f);
    t -= fma_of(t * t, t, -m) / (3.0f * t * t);
    return copysignf(scale_near(t, third), x);
}
WARPSIM_FUNCTION double cbrt_of(double x) {
    if (x == 0 || !isfinite(x))
        return x;
    int e;
    double a = fabs(x);
    double m = split(a, &e);
    int third = (e + 3000) / 3 - 1000;
    m = scale_near(m, e - 3 * third);
    double t = cbrt_of((float)m);
    t -= fma_of(t * t, t, -m) / (3.0 * t * t);
    double square = product(t, t);
    double square_low = fma_of(t, t, -square);
    double miss = fma_of(square, t, -m) + square_low * t;
    t -= miss / (3.0 * square);
    return copysign(scale_near(t, third), x);
}
template <class T> WARPSIM_FUNCTION T sinh_of(T x) {
    T a = fabs(x);
    T most = (T)(sizeof(T) == 4 ? 88 : 709);
    if (a > most) {
        T half = exp_of(a * (T)0.5);
        return copysign((T)0.5 * half * half, x);
    }
    T e = expm1_of(a);
    return copysign((T)0.5 * (e + e / (e + 1)), x);
}
template <class T> WARPSIM_FUNCTION T cosh_of(T x) {
    T a = fabs(x);
    T half = exp_of(a * (T)0.5);
    if (a > (T)40)
        return (T)0.5 * half * half;
    T e = exp_of(a);
    return (T)0.5 * (e + 1 / e);
}
WARPSIM_FUNCTION float tanh_of(float x) {
    float a = fabsf(x);
    if (!(a >= 0.55f)) {
        float z = x * x;
        return fma_of(tanh_tail(z) * z, x, x);
    }
    float e = exp_of(2.0f * a);
    return copysignf(fma_of(-2.0f, __nvvm_rcp_rn_f(e + 1.0f), 1.0f), x);
}
WARPSIM_FUNCTION double tanh_of(double x) {
    double a = fabs(x);
    if (a > 22.0)
        return copysign(1.0, x);
    double e = expm1_of(2.0 * a);
    return copysign(e / (e + 2.0), x);
}
template <class T> WARPSIM_FUNCTION T asinh_of(T x) {
    T a = fabs(x);
    if (!isfinite(x) || a < (T)1e-9)
        return x;
    if (a > (T)1e8)
        return copysign(log_of(a) + (T)0.69314718055994528623, x);
    return copysign(log1p_of(a + a * a / (1 + root(a * a + 1))), x);
}
template <class T> WARPSIM_FUNCTION T acosh_of(T x) {
    if (!(x >= 1))
        return not_a_number<T>();
    if (x > (T)1e8)
        return log_of(x) + (T)0.69314718055994528623;
    T t = x - 1;
    return log1p_of(t + root(2 * t + t * t));
}
template <class T> WARPSIM_FUNCTION T atanh_of(T x) {
    T a = fabs(x);
    return copysign((T)0.5 * log1p_of(2 * a / (1 - a)), x);
}
template <class T> WARPSIM_FUNCTION T hypot_of(T x, T y) {
    T a = fabs(x);
    T b = fabs(y);
    if (isinf(a) || isinf(b))
        return infinity<T>();
    T large = fmax(a, b);
    T small = fmin(a, b);
    if (large == 0 || x != x || y != y)
        return a + b;
    int e;
    split(large, &e);
    T l = scale(large, -e);
    T s = scale(small, -e);
    T square = product(l, l);
    T rest = fma_of(l, l, -square) + s * s;
    T r = root(square + rest);
    return scale(r, e);
}
} // namespace warpsim
