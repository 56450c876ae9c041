// Text in global memory, as log files have it.
#pragma once

// Where the word that begins at `at` ends.
static __device__ __forceinline__ u32 word_end(const u8 *text, u32 at) {
    while (text[at] > ' ')
        at++;
    return at;
}

// The number that begins at `at`.
static __device__ __forceinline__ u32 decimal(const u8 *text, u32 at) {
    u32 value = 0;
    for (u32 digit; (digit = text[at] - '0') < 10; at++)
        value = value * 10 + digit;
    return value;
}

// A hash of 16 bits: FNV-1a over the bytes, folded.
static __device__ __forceinline__ u32 hash_text(const u8 *text, u32 at, u32 length) {
    u32 hash = 0x811c9dc5u;
    for (u32 k = 0; k < length; k++)
        hash = (hash ^ text[at + k]) * 0x01000193u;
    return (hash ^ hash >> 16) & 0xffff;
}

// -1, 0 or 1: how two stretches of text compare, byte by byte and then by length. Both begin at a
// multiple of four bytes and are compared by words.
static __device__ __forceinline__ int compare_text(const u8 *text, u32 a, u32 length_a, u32 b,
                                                   u32 length_b) {
    const u32 *words = (const u32 *)text;
    u32 both = umin(length_a, length_b);
    for (u32 k = 0; k < both; k += 4) {
        u32 x = words[(a + k) / 4], y = words[(b + k) / 4];
        if (both - k < 4) {
            // What follows the text does not count.
            u32 mask = (1u << (both - k) * 8) - 1;
            x &= mask;
            y &= mask;
        }
        // The first byte is the lowest one of a word.
        if (x != y)
            return __builtin_bswap32(x) < __builtin_bswap32(y) ? -1 : 1;
    }
    return length_a == length_b ? 0 : length_a < length_b ? -1 : 1;
}
