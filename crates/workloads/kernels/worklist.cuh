// Lists of work that blocks share without locks. Every list has one owner, which alone appends to it,
// and everyone takes from its front: an entry belongs to who moves `head` past it. Places are never
// used twice, so that an entry read before the move is still the right one after it.
#pragma once

struct Worklists {
    uint4 *entries; // `capacity` for each list
    u32 *heads, *tails;
    u32 lists, capacity;
};

// Reads what other blocks write while this one runs: past the first-level cache, which is not kept
// coherent.
static __device__ __forceinline__ u32 fresh(const u32 *p) { return *(const volatile u32 *)p; }
static __device__ __forceinline__ float4 fresh(const float4 *p) {
    float4 v;
    asm volatile("ld.global.cg.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "l"(p));
    return v;
}
static __device__ __forceinline__ uint4 fresh(const uint4 *p) {
    uint4 v;
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(p));
    return v;
}

// Takes an entry: from list `own`, or else from the next one that has any. By one thread.
static __device__ __forceinline__ bool take(const Worklists &w, u32 own, uint4 *entry) {
    u32 list = own;
    for (u32 tried = 0; tried < w.lists; tried++) {
        for (;;) {
            u32 head = fresh(w.heads + list);
            if (head >= fresh(w.tails + list))
                break;
            // The entry was written before the tail was moved.
            __threadfence();
            uint4 candidate = fresh(w.entries + list * w.capacity + head);
            if (atomicCAS(w.heads + list, head, head + 1) == head) {
                *entry = candidate;
                return true;
            }
        }
        list = list + 1 < w.lists ? list + 1 : 0;
    }
    return false;
}
