// Polynomials for what is left of the math functions after reduction, by interpolation at Chebyshev
// nodes of the reduced interval, in 50 digits; their errors are well below the rounding of the result.
//
//   log_tail(z)    (2 atanh(s) - 2 s) / (s z), z = s^2 up to 0.0295
//   log_rest(z)    (log_tail(z) - 2/3) / z
//   exp_tail(r)    (exp(r) - 1 - r) / r^2, |r| up to ln(2) / 2
//   sin_tail(z)    (sin(r) - r) / r^3, cos_tail(z) (cos(r) - 1 + z / 2) / z^2, z = r^2, |r| up to pi / 4
//   atan_tail(z)   (atan(r) - r) / r^3, z = r^2, |r| up to tan(pi / 8)
//   tanh_tail(z)   (tanh(r) - r) / r^3, z = r^2, |r| up to 0.55
//   erf_series(z)  erf(x) / x, z = x^2 up to 1
//   erfc_scaled(q) (1 + 2 x) exp(x^2) erfc(x), q = (x - 2) / (x + 2), x from 0.5 on
#pragma once

namespace warpsim {
WARPSIM_FUNCTION float log_tail(float z) {
    float p = 2.33329128e-1f;
    p = fma_of(p, z, 2.85507308e-1f);
    p = fma_of(p, z, 4.00001226e-1f);
    p = fma_of(p, z, 6.66666666e-1f);
    return p;
}

WARPSIM_FUNCTION double log_tail(double z) {
    double p = 1.3089629160674623e-1;
    p = fma_of(p, z, 1.3268485680654427e-1);
    p = fma_of(p, z, 1.5386250447940189e-1);
    p = fma_of(p, z, 1.8181795442371985e-1);
    p = fma_of(p, z, 2.2222222393566609e-1);
    p = fma_of(p, z, 2.8571428570795431e-1);
    p = fma_of(p, z, 4.000000000000089e-1);
    p = fma_of(p, z, 6.6666666666666666e-1);
    return p;
}

WARPSIM_FUNCTION float exp_tail(float z) {
    float p = 1.98909885e-4f;
    p = fma_of(p, z, 1.39336479e-3f);
    p = fma_of(p, z, 8.33331093e-3f);
    p = fma_of(p, z, 4.16664649e-2f);
    p = fma_of(p, z, 1.66666667e-1f);
    p = fma_of(p, z, 5.00000001e-1f);
    return p;
}

WARPSIM_FUNCTION double exp_tail(double z) {
    double p = 2.0914685161418068e-9;
    p = fma_of(p, z, 2.5105214474751414e-8);
    p = fma_of(p, z, 2.755727364745109e-7);
    p = fma_of(p, z, 2.7557255406285044e-6);
    p = fma_of(p, z, 2.4801587325544319e-5);
    p = fma_of(p, z, 1.9841269874815833e-4);
    p = fma_of(p, z, 1.3888888888883749e-3);
    p = fma_of(p, z, 8.3333333333261365e-3);
    p = fma_of(p, z, 4.166666666666667e-2);
    p = fma_of(p, z, 1.6666666666666671e-1);
    p = fma_of(p, z, 5.0e-1);
    return p;
}

WARPSIM_FUNCTION float sin_tail(float z) {
    float p = 2.72499012e-6f;
    p = fma_of(p, z, -1.98400865e-4f);
    p = fma_of(p, z, 8.33333187e-3f);
    p = fma_of(p, z, -1.66666667e-1f);
    return p;
}

WARPSIM_FUNCTION double sin_tail(double z) {
    double p = -7.5866922620943443e-13;
    p = fma_of(p, z, 1.6058531536611834e-10);
    p = fma_of(p, z, -2.5052106231927856e-8);
    p = fma_of(p, z, 2.755731921933767e-6);
    p = fma_of(p, z, -1.9841269841265063e-4);
    p = fma_of(p, z, 8.3333333333333315e-3);
    p = fma_of(p, z, -1.6666666666666667e-1);
    return p;
}

WARPSIM_FUNCTION float cos_tail(float z) {
    float p = -2.73009386e-7f;
    p = fma_of(p, z, 2.48006002e-5f);
    p = fma_of(p, z, -1.38888877e-3f);
    p = fma_of(p, z, 4.16666667e-2f);
    return p;
}

WARPSIM_FUNCTION double cos_tail(double z) {
    double p = 4.7458692024108735e-14;
    p = fma_of(p, z, -1.1470460841811525e-11);
    p = fma_of(p, z, 2.0876755790791471e-9);
    p = fma_of(p, z, -2.7557319221401993e-7);
    p = fma_of(p, z, 2.4801587301584645e-5);
    p = fma_of(p, z, -1.3888888888888888e-3);
    p = fma_of(p, z, 4.1666666666666667e-2);
    return p;
}

WARPSIM_FUNCTION float atan_tail(float z) {
    float p = -6.45159726e-2f;
    p = fma_of(p, z, 1.07436316e-1f);
    p = fma_of(p, z, -1.42639464e-1f);
    p = fma_of(p, z, 1.99995402e-1f);
    p = fma_of(p, z, -3.33333318e-1f);
    return p;
}

WARPSIM_FUNCTION double atan_tail(double z) {
    double p = 1.6283572356482589e-2;
    p = fma_of(p, z, -3.4568590668606899e-2);
    p = fma_of(p, z, 4.5515165635903106e-2);
    p = fma_of(p, z, -5.2304374642516871e-2);
    p = fma_of(p, z, 5.8789267157567258e-2);
    p = fma_of(p, z, -6.6664246872464995e-2);
    p = fma_of(p, z, 7.692296363979951e-2);
    p = fma_of(p, z, -9.0909087531185939e-2);
    p = fma_of(p, z, 1.1111111105147764e-1);
    p = fma_of(p, z, -1.4285714285659749e-1);
    p = fma_of(p, z, 1.9999999999999804e-1);
    p = fma_of(p, z, -3.3333333333333333e-1);
    return p;
}

WARPSIM_FUNCTION float tanh_tail(float z) {
    float p = -6.61022783e-3f;
    p = fma_of(p, z, 2.13093887e-2f);
    p = fma_of(p, z, -5.39094288e-2f);
    p = fma_of(p, z, 1.33331137e-1f);
    p = fma_of(p, z, -3.3333332e-1f);
    return p;
}

WARPSIM_FUNCTION float erf_series(float z) {
    float p = 7.87587506e-5f;
    p = fma_of(p, z, -8.01686429e-4f);
    p = fma_of(p, z, 5.18908742e-3f);
    p = fma_of(p, z, -2.6854212e-2f);
    p = fma_of(p, z, 1.12835947e-1f);
    p = fma_of(p, z, -3.76126267e-1f);
    p = fma_of(p, z, 1.12837917f);
    return p;
}

WARPSIM_FUNCTION double erf_series(double z) {
    double p = 5.9571761477489114e-11;
    p = fma_of(p, z, -1.1372848856791674e-9);
    p = fma_of(p, z, 1.4659775274047436e-8);
    p = fma_of(p, z, -1.6350312701054695e-7);
    p = fma_of(p, z, 1.6461000484121368e-6);
    p = fma_of(p, z, -1.4925595266831182e-5);
    p = fma_of(p, z, 1.2055331111642711e-4);
    p = fma_of(p, z, -8.5483269808337899e-4);
    p = fma_of(p, z, 5.2239776248180145e-3);
    p = fma_of(p, z, -2.6866170645076793e-2);
    p = fma_of(p, z, 1.1283791670954879e-1);
    p = fma_of(p, z, -3.7612638903183748e-1);
    p = fma_of(p, z, 1.1283791670955126);
    return p;
}

WARPSIM_FUNCTION float erfc_scaled(float z) {
    float p = -2.19537039e-4f;
    p = fma_of(p, z, -1.25898281e-3f);
    p = fma_of(p, z, 1.14145173e-3f);
    p = fma_of(p, z, 8.65385845e-3f);
    p = fma_of(p, z, -8.00437781e-3f);
    p = fma_of(p, z, -5.42099398e-2f);
    p = fma_of(p, z, 1.64048637e-1f);
    p = fma_of(p, z, -1.66030928e-1f);
    p = fma_of(p, z, -9.27637627e-2f);
    p = fma_of(p, z, 1.27697839f);
    return p;
}

WARPSIM_FUNCTION double erfc_scaled(double z) {
    double p = -1.0763374723185794e-7;
    p = fma_of(p, z, 2.0272011008241791e-7);
    p = fma_of(p, z, 3.3217217590117698e-7);
    p = fma_of(p, z, -4.0756638097851464e-7);
    p = fma_of(p, z, -9.4663498319605555e-7);
    p = fma_of(p, z, -5.5824837698506373e-7);
    p = fma_of(p, z, 1.5266640387417879e-6);
    p = fma_of(p, z, 5.1564867883249172e-6);
    p = fma_of(p, z, 3.716286146463672e-6);
    p = fma_of(p, z, -1.3473053690458942e-5);
    p = fma_of(p, z, -3.6427733942614583e-5);
    p = fma_of(p, z, -1.5135227382700147e-6);
    p = fma_of(p, z, 1.5104031690645124e-4);
    p = fma_of(p, z, 2.0636764451044977e-4);
    p = fma_of(p, z, -4.5434098947545929e-4);
    p = fma_of(p, z, -1.4568139786800675e-3);
    p = fma_of(p, z, 1.2713389783124987e-3);
    p = fma_of(p, z, 8.722653877066426e-3);
    p = fma_of(p, z, -8.0340150829378164e-3);
    p = fma_of(p, z, -5.4220000992067316e-2);
    p = fma_of(p, z, 1.6405128003345169e-1);
    p = fma_of(p, z, -1.6603039761528911e-1);
    p = fma_of(p, z, -9.2763826585746059e-2);
    p = fma_of(p, z, 1.2769783815525287);
    return p;
}

WARPSIM_FUNCTION float log_rest(float z) {
    float p = 2.30499643e-1f;
    p = fma_of(p, z, 2.8562198e-1f);
    p = fma_of(p, z, 4.00000151e-1f);
    return p;
}

WARPSIM_FUNCTION double log_rest(double z) {
    double p = 1.2916088513173333e-1;
    p = fma_of(p, z, 1.3285757314527469e-1);
    p = fma_of(p, z, 1.5385580823628318e-1);
    p = fma_of(p, z, 1.8181808164729225e-1);
    p = fma_of(p, z, 2.2222222271610221e-1);
    p = fma_of(p, z, 2.8571428571337385e-1);
    p = fma_of(p, z, 4.0000000000000027e-1);
    return p;
}
} // namespace warpsim
