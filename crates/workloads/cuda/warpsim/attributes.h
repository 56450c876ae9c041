// Words of the language: where functions run and where variables live.
#pragma once

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __inline__ inline
#define __align__(N) __attribute__((aligned(N)))
#define __builtin_align__(N) __align__(N)
#define __grid_constant__

#ifndef __CUDACC__
#define __CUDACC__
#endif
#define CUDART_VERSION 12000

typedef __SIZE_TYPE__ size_t;
typedef unsigned int uint;
typedef unsigned short ushort;

// What our own functions are: `nodebug` gives what is inlined from them the caller's line.
#define WARPSIM_FUNCTION static __attribute__((device, always_inline, nodebug, unused)) inline
#define WARPSIM_BOTH static __attribute__((host, device, always_inline, nodebug, unused)) inline
#define WARPSIM_METHOD __attribute__((device, always_inline, nodebug)) inline
#define WARPSIM_METHOD_BOTH __attribute__((host, device, always_inline, nodebug)) inline

namespace warpsim {
template <class T> struct is_integral { static constexpr bool value = false; };
#define WARPSIM_INTEGRAL(TYPE) template <> struct is_integral<TYPE> { static constexpr bool value = true; };
WARPSIM_INTEGRAL(bool)
WARPSIM_INTEGRAL(char)
WARPSIM_INTEGRAL(signed char)
WARPSIM_INTEGRAL(unsigned char)
WARPSIM_INTEGRAL(short)
WARPSIM_INTEGRAL(unsigned short)
WARPSIM_INTEGRAL(int)
WARPSIM_INTEGRAL(unsigned)
WARPSIM_INTEGRAL(long)
WARPSIM_INTEGRAL(unsigned long)
WARPSIM_INTEGRAL(long long)
WARPSIM_INTEGRAL(unsigned long long)
#undef WARPSIM_INTEGRAL
template <bool B, class T> struct enable_if {};
template <class T> struct enable_if<true, T> { typedef T type; };
// The type of a function's result where an argument is an integer, as in C++.
template <class T> using double_for = typename enable_if<is_integral<T>::value, double>::type;
} // namespace warpsim
