// Vector types. Those of two and four components load and store as one access.
#pragma once

#define WARPSIM_VECTOR(NAME, T, TWO, FOUR)                                                         \
    struct NAME##1 { T x; };                                                                       \
    struct __attribute__((aligned(TWO))) NAME##2 { T x, y; };                                      \
    struct NAME##3 { T x, y, z; };                                                                 \
    struct __attribute__((aligned(FOUR))) NAME##4 { T x, y, z, w; };                               \
    WARPSIM_BOTH NAME##1 make_##NAME##1(T x) { return {x}; }                                       \
    WARPSIM_BOTH NAME##2 make_##NAME##2(T x, T y) { return {x, y}; }                               \
    WARPSIM_BOTH NAME##3 make_##NAME##3(T x, T y, T z) { return {x, y, z}; }                       \
    WARPSIM_BOTH NAME##4 make_##NAME##4(T x, T y, T z, T w) { return {x, y, z, w}; }
WARPSIM_VECTOR(char, signed char, 2, 4)
WARPSIM_VECTOR(uchar, unsigned char, 2, 4)
WARPSIM_VECTOR(short, short, 4, 8)
WARPSIM_VECTOR(ushort, unsigned short, 4, 8)
WARPSIM_VECTOR(int, int, 8, 16)
WARPSIM_VECTOR(uint, unsigned int, 8, 16)
WARPSIM_VECTOR(long, long, 16, 16)
WARPSIM_VECTOR(ulong, unsigned long, 16, 16)
WARPSIM_VECTOR(longlong, long long, 16, 16)
WARPSIM_VECTOR(ulonglong, unsigned long long, 16, 16)
WARPSIM_VECTOR(float, float, 8, 16)
WARPSIM_VECTOR(double, double, 16, 16)
#undef WARPSIM_VECTOR

// Sizes of grids and blocks; what is not given is 1.
struct dim3 {
    unsigned int x, y, z;
    WARPSIM_METHOD_BOTH constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
    WARPSIM_METHOD_BOTH constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    WARPSIM_METHOD_BOTH constexpr operator uint3() const { return {x, y, z}; }
};
