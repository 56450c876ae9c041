// The names of the math library: `NAMEf(float)`, `NAME(double)`, `NAME(float)`, and for integers the
// double, as in C++. docs/cuda.md states how exact each is, and a test measures it.
#pragma once

#define WARPSIM_OVERLOADS(NAME)                                                                    \
    WARPSIM_FUNCTION float NAME(float x) { return NAME##f(x); }                                    \
    template <class T> WARPSIM_FUNCTION warpsim::double_for<T> NAME(T x) { return NAME((double)x); }
#define WARPSIM_MATH(NAME)                                                                         \
    WARPSIM_FUNCTION float NAME##f(float x) { return warpsim::NAME##_of(x); }                      \
    WARPSIM_FUNCTION double NAME(double x) { return warpsim::NAME##_of(x); }                       \
    WARPSIM_OVERLOADS(NAME)
WARPSIM_MATH(exp)
WARPSIM_MATH(exp2)
WARPSIM_MATH(exp10)
WARPSIM_MATH(expm1)
WARPSIM_MATH(log)
WARPSIM_MATH(log2)
WARPSIM_MATH(log10)
WARPSIM_MATH(log1p)
WARPSIM_MATH(cbrt)
WARPSIM_MATH(sin)
WARPSIM_MATH(cos)
WARPSIM_MATH(tan)
WARPSIM_MATH(asin)
WARPSIM_MATH(acos)
WARPSIM_MATH(atan)
WARPSIM_MATH(sinh)
WARPSIM_MATH(cosh)
WARPSIM_MATH(tanh)
WARPSIM_MATH(asinh)
WARPSIM_MATH(acosh)
WARPSIM_MATH(atanh)
WARPSIM_MATH(erf)
WARPSIM_MATH(erfc)
WARPSIM_MATH(normcdf)
#undef WARPSIM_MATH

WARPSIM_FUNCTION float rsqrtf(float x) { return __nvvm_rsqrt_approx_f(x); }
WARPSIM_FUNCTION double rsqrt(double x) { return 1.0 / sqrt(x); }
WARPSIM_FUNCTION float rcbrtf(float x) { return 1.0f / cbrtf(x); }
WARPSIM_FUNCTION double rcbrt(double x) { return 1.0 / cbrt(x); }
WARPSIM_FUNCTION float logbf(float x) { return x == 0 ? -warpsim::infinity<float>() : isfinite(x) ? (float)ilogbf(x) : x * x; }
WARPSIM_FUNCTION double logb(double x) { return x == 0 ? -warpsim::infinity<double>() : isfinite(x) ? (double)ilogb(x) : x * x; }
WARPSIM_OVERLOADS(sqrt)
WARPSIM_OVERLOADS(rsqrt)
WARPSIM_OVERLOADS(rcbrt)
WARPSIM_OVERLOADS(floor)
WARPSIM_OVERLOADS(ceil)
WARPSIM_OVERLOADS(trunc)
WARPSIM_OVERLOADS(round)
WARPSIM_OVERLOADS(rint)
WARPSIM_OVERLOADS(nearbyint)
WARPSIM_OVERLOADS(logb)
#undef WARPSIM_OVERLOADS
template <class T> WARPSIM_FUNCTION warpsim::double_for<T> fabs(T x) { return fabs((double)x); }

// Of two arguments; of mixed types the double.
namespace warpsim {
template <class T> struct is_float { static constexpr bool value = false; };
template <> struct is_float<float> { static constexpr bool value = true; };
template <> struct is_float<double> { static constexpr bool value = true; };
template <class A, class B> struct same { static constexpr bool value = false; };
template <class A> struct same<A, A> { static constexpr bool value = true; };
template <class A, class B> using double_for_mixed =
    typename enable_if<(is_float<A>::value || is_integral<A>::value) && (is_float<B>::value || is_integral<B>::value) &&
                           !(same<A, B>::value && is_float<A>::value), double>::type;
} // namespace warpsim
#define WARPSIM_MIXED(NAME)                                                                        \
    WARPSIM_FUNCTION float NAME(float a, float b) { return NAME##f(a, b); }                        \
    template <class A, class B> WARPSIM_FUNCTION warpsim::double_for_mixed<A, B> NAME(A a, B b) { return NAME((double)a, (double)b); }
WARPSIM_FUNCTION float powf(float x, float y) { return warpsim::pow_of(x, y); }
WARPSIM_FUNCTION double pow(double x, double y) { return warpsim::pow_of(x, y); }
WARPSIM_FUNCTION float pow(float x, int y) { return warpsim::pow_of(x, (float)y); }
WARPSIM_FUNCTION double pow(double x, int y) { return warpsim::pow_of(x, (double)y); }
WARPSIM_FUNCTION float atan2f(float y, float x) { return warpsim::atan2_of(y, x); }
WARPSIM_FUNCTION double atan2(double y, double x) { return warpsim::atan2_of(y, x); }
WARPSIM_FUNCTION float hypotf(float x, float y) { return warpsim::hypot_of(x, y); }
WARPSIM_FUNCTION double hypot(double x, double y) { return warpsim::hypot_of(x, y); }
WARPSIM_MIXED(pow)
WARPSIM_MIXED(atan2)
WARPSIM_MIXED(hypot)
WARPSIM_MIXED(fmod)
WARPSIM_MIXED(remainder)
WARPSIM_MIXED(fdim)
#undef WARPSIM_MIXED
WARPSIM_FUNCTION float ldexp(float x, int n) { return ldexpf(x, n); }
WARPSIM_FUNCTION float frexp(float x, int *n) { return frexpf(x, n); }
WARPSIM_FUNCTION float modf(float x, float *whole) { return modff(x, whole); }
WARPSIM_FUNCTION float rhypotf(float x, float y) { return 1.0f / hypotf(x, y); }
WARPSIM_FUNCTION double rhypot(double x, double y) { return 1.0 / hypot(x, y); }
WARPSIM_FUNCTION float norm3df(float x, float y, float z) { return hypotf(hypotf(x, y), z); }
WARPSIM_FUNCTION double norm3d(double x, double y, double z) { return hypot(hypot(x, y), z); }
WARPSIM_FUNCTION float fdividef(float x, float y) { return x / y; }

WARPSIM_FUNCTION void sincosf(float x, float *s, float *c) { warpsim::sincos_of(x, s, c); }
WARPSIM_FUNCTION void sincos(double x, double *s, double *c) { warpsim::sincos_of(x, s, c); }
WARPSIM_FUNCTION void sincos(float x, float *s, float *c) { warpsim::sincos_of(x, s, c); }
WARPSIM_FUNCTION void sincospif(float x, float *s, float *c) { warpsim::sincospi_of(x, s, c); }
WARPSIM_FUNCTION void sincospi(double x, double *s, double *c) { warpsim::sincospi_of(x, s, c); }
#define WARPSIM_OF_PI(T, SUFFIX)                                                                   \
    WARPSIM_FUNCTION T sinpi##SUFFIX(T x) {                                                        \
        T s, c;                                                                                    \
        warpsim::sincospi_of(x, &s, &c);                                                           \
        return s;                                                                                  \
    }                                                                                              \
    WARPSIM_FUNCTION T cospi##SUFFIX(T x) {                                                        \
        T s, c;                                                                                    \
        warpsim::sincospi_of(x, &s, &c);                                                           \
        return c;                                                                                  \
    }
WARPSIM_OF_PI(float, f)
WARPSIM_OF_PI(double, )
#undef WARPSIM_OF_PI
