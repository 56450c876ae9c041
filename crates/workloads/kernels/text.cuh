// Text in global memory, as log files have it.
#pragma once

// Reads text byte by byte and loads it eight bytes at a time: it begins at a multiple of eight.
struct Reader {
    const u8 *text;
    u32 at;
    u64 loaded;

    __device__ __forceinline__ Reader(const u8 *from, u32 begin) : text(from), at(begin), loaded(0) {}
    __device__ __forceinline__ u32 next() {
        if (at % 8 == 0)
            loaded = *(const u64 *)(text + at);
        u32 byte = (u32)loaded & 0xff;
        loaded >>= 8;
        at++;
        return byte;
    }
};

// A hash of 16 bits: FNV-1a over the bytes, folded.
#define HASH_START 0x811c9dc5u
static __device__ __forceinline__ u32 hash_byte(u32 hash, u32 byte) { return (hash ^ byte) * 0x01000193u; }
static __device__ __forceinline__ u32 hash_end(u32 hash) { return (hash ^ hash >> 16) & 0xffff; }

// -1, 0 or 1: how two stretches of text compare, byte by byte and then by length. Both begin at a
// multiple of eight bytes and are compared eight at a time.
static __device__ __forceinline__ int compare_text(const u8 *text, u32 a, u32 length_a, u32 b,
                                                   u32 length_b) {
    u32 both = umin(length_a, length_b);
    for (u32 k = 0; k < both; k += 8) {
        u64 x = *(const u64 *)(text + (a + k)), y = *(const u64 *)(text + (b + k));
        u64 differing = x ^ y;
        // What follows the text does not count.
        if (both - k < 8)
            differing &= (1ull << (both - k) * 8) - 1;
        if (differing != 0) {
            // The first byte is the lowest one.
            u64 first = differing & -differing;
            u32 shift = (63 - __builtin_clzll(first)) & ~7u;
            return (u32)(x >> shift & 0xff) < (u32)(y >> shift & 0xff) ? -1 : 1;
        }
    }
    return length_a == length_b ? 0 : length_a < length_b ? -1 : 1;
}
