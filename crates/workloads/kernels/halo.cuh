// What stencils need at the edge of a tile.
#pragma once

// A load from global memory that stays one: where one side of a branch loads from shared memory and
// the other from global memory, the compiler would make one generic load of both.
static __device__ __forceinline__ float load_global(const float *p) {
    float v;
    asm volatile("ld.global.f32 %0, [%1];" : "=f"(v) : "l"(p));
    return v;
}

// Pins a value to the branch in which it is computed, so that the branch stays one: where the
// original decides by branches which neighbours to take, so do we.
static __device__ __forceinline__ float here(float v) {
    asm volatile("" : "+f"(v));
    return v;
}
