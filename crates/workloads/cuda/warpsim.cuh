// The names that warpsim's first header had beside CUDA's: files that include it still compile.
#include "warpsim_cuda.h"
#pragma once
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
WARPSIM_FUNCTION float exp2f_approx(float x) { return __nvvm_ex2_approx_f(x); }
WARPSIM_FUNCTION float log2f_approx(float x) { return __nvvm_lg2_approx_f(x); }
WARPSIM_FUNCTION float __frsqrt(float x) { return __nvvm_rsqrt_approx_f(x); }
WARPSIM_FUNCTION u32 __rotl(u32 x, int by) { return x << by | x >> (32 - by); }
