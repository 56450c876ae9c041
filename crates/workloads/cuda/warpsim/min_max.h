// Minima, maxima and absolute values of every type. Which overload is meant is decided as CUDA decides
// it: of a signed and an unsigned integer the unsigned, of float and double the double, and an integer
// with a float is ambiguous.
#pragma once

WARPSIM_FUNCTION float fminf(float a, float b) { return __nvvm_fmin_f(a, b); }
WARPSIM_FUNCTION float fmaxf(float a, float b) { return __nvvm_fmax_f(a, b); }
WARPSIM_FUNCTION double fmin(double a, double b) { return __nvvm_fmin_d(a, b); }
WARPSIM_FUNCTION double fmax(double a, double b) { return __nvvm_fmax_d(a, b); }
WARPSIM_FUNCTION float fmin(float a, float b) { return __nvvm_fmin_f(a, b); }
WARPSIM_FUNCTION float fmax(float a, float b) { return __nvvm_fmax_f(a, b); }

#define WARPSIM_MIN_MAX(A, B, T)                                                                   \
    WARPSIM_FUNCTION T min(A a, B b) { return (T)a < (T)b ? (T)a : (T)b; }                         \
    WARPSIM_FUNCTION T max(A a, B b) { return (T)a > (T)b ? (T)a : (T)b; }
#define WARPSIM_MIN_MAX_SIGNS(S, U)                                                                \
    WARPSIM_MIN_MAX(S, S, S)                                                                       \
    WARPSIM_MIN_MAX(U, U, U)                                                                       \
    WARPSIM_MIN_MAX(S, U, U)                                                                       \
    WARPSIM_MIN_MAX(U, S, U)
WARPSIM_MIN_MAX_SIGNS(int, unsigned)
WARPSIM_MIN_MAX_SIGNS(long, unsigned long)
WARPSIM_MIN_MAX_SIGNS(long long, unsigned long long)
#undef WARPSIM_MIN_MAX_SIGNS
#undef WARPSIM_MIN_MAX
WARPSIM_FUNCTION float min(float a, float b) { return __nvvm_fmin_f(a, b); }
WARPSIM_FUNCTION float max(float a, float b) { return __nvvm_fmax_f(a, b); }
WARPSIM_FUNCTION double min(double a, double b) { return __nvvm_fmin_d(a, b); }
WARPSIM_FUNCTION double max(double a, double b) { return __nvvm_fmax_d(a, b); }
WARPSIM_FUNCTION double min(float a, double b) { return __nvvm_fmin_d(a, b); }
WARPSIM_FUNCTION double max(float a, double b) { return __nvvm_fmax_d(a, b); }
WARPSIM_FUNCTION double min(double a, float b) { return __nvvm_fmin_d(a, b); }
WARPSIM_FUNCTION double max(double a, float b) { return __nvvm_fmax_d(a, b); }
WARPSIM_FUNCTION unsigned umin(unsigned a, unsigned b) { return a < b ? a : b; }
WARPSIM_FUNCTION unsigned umax(unsigned a, unsigned b) { return a > b ? a : b; }
WARPSIM_FUNCTION long long llmin(long long a, long long b) { return a < b ? a : b; }
WARPSIM_FUNCTION long long llmax(long long a, long long b) { return a > b ? a : b; }
WARPSIM_FUNCTION unsigned long long ullmin(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
WARPSIM_FUNCTION unsigned long long ullmax(unsigned long long a, unsigned long long b) { return a > b ? a : b; }

WARPSIM_FUNCTION float fabsf(float x) { return __builtin_fabsf(x); }
WARPSIM_FUNCTION double fabs(double x) { return __builtin_fabs(x); }
WARPSIM_FUNCTION float fabs(float x) { return __builtin_fabsf(x); }
WARPSIM_FUNCTION int abs(int x) { return x < 0 ? -x : x; }
WARPSIM_FUNCTION long abs(long x) { return x < 0 ? -x : x; }
WARPSIM_FUNCTION long long abs(long long x) { return x < 0 ? -x : x; }
WARPSIM_FUNCTION float abs(float x) { return __builtin_fabsf(x); }
WARPSIM_FUNCTION double abs(double x) { return __builtin_fabs(x); }
WARPSIM_FUNCTION long labs(long x) { return x < 0 ? -x : x; }
WARPSIM_FUNCTION long long llabs(long long x) { return x < 0 ? -x : x; }
