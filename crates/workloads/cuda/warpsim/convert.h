// Conversions with a rounding of their own, and values as bits.
#pragma once

WARPSIM_FUNCTION int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
WARPSIM_FUNCTION unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
WARPSIM_FUNCTION float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
WARPSIM_FUNCTION float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
WARPSIM_FUNCTION long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
WARPSIM_FUNCTION double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
WARPSIM_FUNCTION int __double2hiint(double x) { return (int)(__builtin_bit_cast(unsigned long long, x) >> 32); }
WARPSIM_FUNCTION int __double2loint(double x) { return (int)__builtin_bit_cast(unsigned long long, x); }
WARPSIM_FUNCTION double __hiloint2double(int hi, int lo) {
    return __builtin_bit_cast(double, (unsigned long long)(unsigned)hi << 32 | (unsigned)lo);
}

#define WARPSIM_CONVERT(NAME, TO, TO_LETTER, FROM, FROM_LETTER, FORM)                              \
    WARPSIM_FUNCTION TO NAME(FROM x) {                                                             \
        TO r;                                                                                      \
        asm("cvt." FORM " %0, %1;" : TO_LETTER(r) : FROM_LETTER(x));                               \
        return r;                                                                                  \
    }
#define WARPSIM_TO_INTEGER(FROM_NAME, FROM, LETTER, PTX)                                           \
    WARPSIM_TO_INTEGERS(FROM_NAME, FROM, LETTER, PTX, n)                                           \
    WARPSIM_TO_INTEGERS(FROM_NAME, FROM, LETTER, PTX, z)                                           \
    WARPSIM_TO_INTEGERS(FROM_NAME, FROM, LETTER, PTX, u)                                           \
    WARPSIM_TO_INTEGERS(FROM_NAME, FROM, LETTER, PTX, d)
#define WARPSIM_INTEGER_MODE_n "rni"
#define WARPSIM_INTEGER_MODE_z "rzi"
#define WARPSIM_INTEGER_MODE_u "rpi"
#define WARPSIM_INTEGER_MODE_d "rmi"
#define WARPSIM_TO_INTEGERS(FROM_NAME, FROM, LETTER, PTX, MODE)                                    \
    WARPSIM_CONVERT(__##FROM_NAME##2int_r##MODE, int, "=r", FROM, LETTER, WARPSIM_INTEGER_MODE_##MODE ".s32." PTX) \
    WARPSIM_CONVERT(__##FROM_NAME##2uint_r##MODE, unsigned, "=r", FROM, LETTER, WARPSIM_INTEGER_MODE_##MODE ".u32." PTX) \
    WARPSIM_CONVERT(__##FROM_NAME##2ll_r##MODE, long long, "=l", FROM, LETTER, WARPSIM_INTEGER_MODE_##MODE ".s64." PTX) \
    WARPSIM_CONVERT(__##FROM_NAME##2ull_r##MODE, unsigned long long, "=l", FROM, LETTER, WARPSIM_INTEGER_MODE_##MODE ".u64." PTX)
WARPSIM_TO_INTEGER(float, float, "f", "f32")
WARPSIM_TO_INTEGER(double, double, "d", "f64")
#undef WARPSIM_TO_INTEGER
#undef WARPSIM_TO_INTEGERS
#define WARPSIM_FROM_INTEGERS(MODE, FORM)                                                          \
    WARPSIM_CONVERT(__int2float_r##MODE, float, "=f", int, "r", FORM ".f32.s32")                   \
    WARPSIM_CONVERT(__uint2float_r##MODE, float, "=f", unsigned, "r", FORM ".f32.u32")             \
    WARPSIM_CONVERT(__ll2float_r##MODE, float, "=f", long long, "l", FORM ".f32.s64")              \
    WARPSIM_CONVERT(__ull2float_r##MODE, float, "=f", unsigned long long, "l", FORM ".f32.u64")    \
    WARPSIM_CONVERT(__ll2double_r##MODE, double, "=d", long long, "l", FORM ".f64.s64")            \
    WARPSIM_CONVERT(__ull2double_r##MODE, double, "=d", unsigned long long, "l", FORM ".f64.u64")  \
    WARPSIM_CONVERT(__double2float_r##MODE, float, "=f", double, "d", FORM ".f32.f64")
WARPSIM_FROM_INTEGERS(n, "rn")
WARPSIM_FROM_INTEGERS(z, "rz")
WARPSIM_FROM_INTEGERS(u, "rp")
WARPSIM_FROM_INTEGERS(d, "rm")
#undef WARPSIM_FROM_INTEGERS
#undef WARPSIM_CONVERT
WARPSIM_FUNCTION double __int2double_rn(int x) { return x; }
WARPSIM_FUNCTION double __uint2double_rn(unsigned x) { return x; }
