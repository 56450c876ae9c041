#include <math.h>
#include "check.h"

KERNEL(infinities) {
    float inf = zero + INFINITY;
    double dinf = inf;
    float none = zero + NAN;
    CHECK(expf(inf) == inf && expf(-inf) == 0.0f && exp(-dinf) == 0.0 && exp(dinf) == dinf && isnan(expf(none)) && isnan(exp((double)none)));
    CHECK(expf(zero + 89.0f) == inf && exp(zero + 710.0) == dinf && expf(zero - 120.0f) == 0.0f && exp2f(zero - 150.0f) == 0.0f);
    CHECK(expf(zero + 0.0f) == 1.0f && exp(zero + 0.0) == 1.0 && exp10f(zero + 2.0f) == 100.0f && exp10(zero + 3.0) == 1000.0);
    CHECK(logf(zero + 0.0f) == -inf && isnan(logf(zero - 1.0f)) && logf(inf) == inf && log(zero + 0.0) == -dinf && logf(zero + 1.0f) == 0.0f);
    CHECK(log2f(zero + 8.0f) == 3.0f && log2(zero + 1024.0) == 10.0 && log10f(zero + 1000.0f) == 3.0f && log10(zero + 100.0) == 2.0);
    CHECK(isnan(sinf(inf)) && isnan(cos(dinf)) && sinf(zero + 0.0f) == 0.0f && cosf(zero + 0.0f) == 1.0f);
    CHECK(fabsf(sinf(zero + 1e30f) - -0.791163439f) < 1e-6f && fabs(sin(zero + 1e22) - -0.8522008497671888) < 1e-15);
    CHECK(fabs(cos(zero + 1e300) - -0.5753861119575491) < 1e-15 && fabs(sin(zero - 123456789.0) - -0.9901147518020355) < 1e-15);
    CHECK(atan2f(zero + 1.0f, -1.0f) == 2.35619449f && atan2(zero - 1.0, 0.0) == -1.5707963267948966 && atan2(zero + 0.0, -1.0) == 3.141592653589793);
    CHECK(isnan(asinf(zero + 1.5f)) && acosf(zero + 1.0f) == 0.0f && acos(zero - 1.0) == 3.141592653589793);
    CHECK(powf(zero + 0.0f, 0.0f) == 1.0f && powf(zero - 2.0f, 3.0f) == -8.0f && isnan(powf(zero - 2.0f, 0.5f)) && powf(inf, -1.0f) == 0.0f);
    CHECK(fabs(pow(zero + 2.0, 0.5) - 1.4142135623730951) < 3e-16 && pow(zero - 3.0, 2.0) == 9.0 && pow(zero + 10.0, 400.0) == dinf && pow(zero + 0.0, -1.0) == dinf);
    CHECK(tanhf(inf) == 1.0f && tanh(-dinf) == -1.0 && erff(inf) == 1.0f && erfc(dinf) == 0.0 && erf(zero + 0.0) == 0.0);
    CHECK(sinhf(zero - 100.0f) == -inf && coshf(zero + 100.0f) == inf && cbrtf(zero + 27.0f) == 3.0f && cbrt(zero - 8.0) == -2.0);
    CHECK(sqrtf(zero + 2.0f) == 1.41421354f && isnan(sqrtf(zero - 1.0f)) && rsqrtf(zero + 4.0f) == 0.5f);
    CHECK(sinpif(zero + 1.5f) == -1.0f && cospi(zero + 1.0) == -1.0 && sinpif(zero + 100000.0f) == 0.0f);
    float s, c;
    sincosf(zero + 0.5f, &s, &c);
    CHECK(s == sinf(zero + 0.5f) && c == cosf(zero + 0.5f));
    CHECK(normcdff(zero + 0.0f) == 0.5f && expm1f(zero + 1e-10f) == 1e-10f && log1p(zero + 1e-20) == 1e-20);
}

KERNEL(fast) {
    CHECK(fabsf(__sinf(zero + 0.5f) - 0.479425539f) < 1e-6f && fabsf(__cosf(zero + 0.5f) - 0.877582562f) < 1e-6f);
    CHECK(fabsf(__expf(zero + 1.0f) - 2.71828183f) < 1e-5f && fabsf(__logf(zero + 2.0f) - 0.693147181f) < 1e-6f);
    CHECK(fabsf(__powf(zero + 2.0f, 3.0f) - 8.0f) < 1e-5f && fabsf(__log2f(zero + 8.0f) - 3.0f) < 1e-6f && fabsf(__log10f(zero + 100.0f) - 2.0f) < 1e-6f);
    CHECK(fabsf(__tanf(zero + 0.5f) - 0.546302490f) < 1e-5f && __fdividef(zero + 1.0f, 4.0f) == 0.25f && fabsf(__exp10f(zero + 2.0f) - 100.0f) < 1e-3f);
    float s, c;
    __sincosf(zero + 0.5f, &s, &c);
    CHECK(s == __sinf(zero + 0.5f) && c == __cosf(zero + 0.5f));
}
