// The error function and what is made of it.
#pragma once

namespace warpsim {
// erfc(x) for x from 0.5 on: what decays stands apart from what is smooth.
template <class T> WARPSIM_FUNCTION T erfc_beyond(T x) {
    T most = (T)(sizeof(T) == 4 ? 10.5 : 27.5);
    T a = fmin(x, most);
    T q = (a - 2) / (a + 2);
    T square = product(a, a);
    T square_low = fma_of(a, a, -square);
    T smooth = erfc_scaled(q) / (1 + 2 * a);
    T y = exp_of(-square, -square_low) * smooth;
    return x >= most ? 0 : y;
}
template <class T> WARPSIM_FUNCTION T erf_of(T x) {
    T a = fabs(x);
    if (!(a > 1))
        return x * erf_series(x * x);
    return copysign(1 - erfc_beyond(a), x);
}
template <class T> WARPSIM_FUNCTION T erfc_of(T x) {
    if (x != x)
        return x;
    return x < (T)0.5 ? 1 - erf_of(x) : erfc_beyond(x);
}
template <class T> WARPSIM_FUNCTION T normcdf_of(T x) { return (T)0.5 * erfc_of(x * (T)-0.70710678118654757); }
} // namespace warpsim
