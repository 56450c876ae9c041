// Fast approximations on the special-function unit, and single operations with a rounding of their own.
#pragma once

WARPSIM_FUNCTION float __sinf(float x) { return __nvvm_sin_approx_f(x); }
WARPSIM_FUNCTION float __cosf(float x) { return __nvvm_cos_approx_f(x); }
WARPSIM_FUNCTION float __fdividef(float a, float b) { return __nvvm_div_approx_f(a, b); }
WARPSIM_FUNCTION float __tanf(float x) { return __fdividef(__sinf(x), __cosf(x)); }
WARPSIM_FUNCTION void __sincosf(float x, float *s, float *c) {
    *s = __sinf(x);
    *c = __cosf(x);
}
WARPSIM_FUNCTION float __exp2f(float x) { return __nvvm_ex2_approx_f(x); }
WARPSIM_FUNCTION float __expf(float x) { return __nvvm_ex2_approx_f(x * 1.44269502f); }
WARPSIM_FUNCTION float __exp10f(float x) { return __nvvm_ex2_approx_f(x * 3.32192802f); }
WARPSIM_FUNCTION float __log2f(float x) { return __nvvm_lg2_approx_f(x); }
WARPSIM_FUNCTION float __logf(float x) { return __nvvm_lg2_approx_f(x) * 0.693147182f; }
WARPSIM_FUNCTION float __log10f(float x) { return __nvvm_lg2_approx_f(x) * 0.301030010f; }
WARPSIM_FUNCTION float __powf(float x, float y) { return __nvvm_ex2_approx_f(y * __nvvm_lg2_approx_f(x)); }
WARPSIM_FUNCTION float __saturatef(float x) { return __nvvm_saturate_f(x); }
WARPSIM_FUNCTION float __frsqrt_rn(float x) { return (float)(1.0 / sqrt((double)x)); }
WARPSIM_FUNCTION float __tanhf(float x) {
    float r;
    asm("tanh.approx.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}

#define WARPSIM_ONE(NAME, T, LETTER, FORM)                                                         \
    WARPSIM_FUNCTION T NAME(T a) {                                                                 \
        T r;                                                                                       \
        asm(FORM " %0, %1;" : "=" LETTER(r) : LETTER(a));                                          \
        return r;                                                                                  \
    }
#define WARPSIM_TWO(NAME, T, LETTER, FORM)                                                         \
    WARPSIM_FUNCTION T NAME(T a, T b) {                                                            \
        T r;                                                                                       \
        asm(FORM " %0, %1, %2;" : "=" LETTER(r) : LETTER(a), LETTER(b));                           \
        return r;                                                                                  \
    }
#define WARPSIM_THREE(NAME, T, LETTER, FORM)                                                       \
    WARPSIM_FUNCTION T NAME(T a, T b, T c) {                                                       \
        T r;                                                                                       \
        asm(FORM " %0, %1, %2, %3;" : "=" LETTER(r) : LETTER(a), LETTER(b), LETTER(c));            \
        return r;                                                                                  \
    }
#define WARPSIM_ROUNDED(MODE, PTX)                                                                 \
    WARPSIM_TWO(__fadd_##MODE, float, "f", "add." PTX ".f32")                                      \
    WARPSIM_TWO(__fsub_##MODE, float, "f", "sub." PTX ".f32")                                      \
    WARPSIM_TWO(__fmul_##MODE, float, "f", "mul." PTX ".f32")                                      \
    WARPSIM_TWO(__fdiv_##MODE, float, "f", "div." PTX ".f32")                                      \
    WARPSIM_THREE(__fmaf_##MODE, float, "f", "fma." PTX ".f32")                                    \
    WARPSIM_ONE(__fsqrt_##MODE, float, "f", "sqrt." PTX ".f32")                                    \
    WARPSIM_ONE(__frcp_##MODE, float, "f", "rcp." PTX ".f32")                                      \
    WARPSIM_TWO(__dadd_##MODE, double, "d", "add." PTX ".f64")                                     \
    WARPSIM_TWO(__dsub_##MODE, double, "d", "sub." PTX ".f64")                                     \
    WARPSIM_TWO(__dmul_##MODE, double, "d", "mul." PTX ".f64")                                     \
    WARPSIM_TWO(__ddiv_##MODE, double, "d", "div." PTX ".f64")                                     \
    WARPSIM_THREE(__fma_##MODE, double, "d", "fma." PTX ".f64")                                    \
    WARPSIM_ONE(__dsqrt_##MODE, double, "d", "sqrt." PTX ".f64")                                   \
    WARPSIM_ONE(__drcp_##MODE, double, "d", "rcp." PTX ".f64")
WARPSIM_ROUNDED(rn, "rn")
WARPSIM_ROUNDED(rz, "rz")
WARPSIM_ROUNDED(ru, "rp")
WARPSIM_ROUNDED(rd, "rm")
#undef WARPSIM_ROUNDED
#undef WARPSIM_ONE
#undef WARPSIM_TWO
#undef WARPSIM_THREE
