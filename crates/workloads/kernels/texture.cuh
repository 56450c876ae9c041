// Texture reads by handle: 1-D textures over plain memory.
#pragma once
#include "warpsim.cuh"

static __device__ __forceinline__ uint4 texture_uint4(u64 handle, u32 at) {
    uint4 t;
    asm("tex.1d.v4.u32.s32 {%0, %1, %2, %3}, [%4, {%5}];"
        : "=r"(t.x), "=r"(t.y), "=r"(t.z), "=r"(t.w)
        : "l"(handle), "r"(at));
    return t;
}

// The only component of a texel.
static __device__ __forceinline__ u32 texture_uint(u64 handle, u32 at) {
    return texture_uint4(handle, at).x;
}
