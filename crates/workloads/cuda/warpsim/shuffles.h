// Shuffles of every type that CUDA has them for: 64 bits go as two halves, floats as their bits. A
// value of another type is an error of the compiler, not a conversion.
#pragma once

namespace warpsim {
#define WARPSIM_SHUFFLE(NAME, MODE)                                                                \
    WARPSIM_FUNCTION unsigned NAME(unsigned mask, unsigned v, unsigned by, unsigned control) {     \
        unsigned r;                                                                                \
        asm volatile("shfl.sync." MODE ".b32 %0, %1, %2, %3, %4;"                                  \
                     : "=r"(r) : "r"(v), "r"(by), "r"(control), "r"(mask));                        \
        return r;                                                                                  \
    }                                                                                              \
    WARPSIM_FUNCTION unsigned NAME(unsigned v, unsigned by, unsigned control) {                    \
        unsigned r;                                                                                \
        asm volatile("shfl." MODE ".b32 %0, %1, %2, %3;" : "=r"(r) : "r"(v), "r"(by), "r"(control)); \
        return r;                                                                                  \
    }
WARPSIM_SHUFFLE(shuffle_index, "idx")
WARPSIM_SHUFFLE(shuffle_up, "up")
WARPSIM_SHUFFLE(shuffle_down, "down")
WARPSIM_SHUFFLE(shuffle_xor, "bfly")
#undef WARPSIM_SHUFFLE
// Which lanes a shuffle stays among, as the instruction wants it.
WARPSIM_FUNCTION unsigned segment(int width) { return (unsigned)(32 - width) << 8; }
} // namespace warpsim

// One name, one mode, one type of 32 bits and one of 64; CLAMP is the last lane (0x1f) or the first.
#define WARPSIM_SHUFFLE_32(NAME, FUNCTION, CLAMP, BY, T)                                           \
    WARPSIM_FUNCTION T NAME##_sync(unsigned mask, T v, BY by, int width = 32) {                    \
        unsigned bits = warpsim::FUNCTION(mask, warpsim::bits_of(v), (unsigned)by, warpsim::segment(width) | CLAMP); \
        return __builtin_bit_cast(T, bits);                                                        \
    }                                                                                              \
    WARPSIM_FUNCTION T NAME(T v, BY by, int width = 32) {                                          \
        unsigned bits = warpsim::FUNCTION(warpsim::bits_of(v), (unsigned)by, warpsim::segment(width) | CLAMP); \
        return __builtin_bit_cast(T, bits);                                                        \
    }
#define WARPSIM_SHUFFLE_64(NAME, FUNCTION, CLAMP, BY, T)                                           \
    WARPSIM_FUNCTION T NAME##_sync(unsigned mask, T v, BY by, int width = 32) {                    \
        unsigned long long whole = warpsim::bits_of(v);                                            \
        unsigned control = warpsim::segment(width) | CLAMP;                                        \
        unsigned lo = warpsim::FUNCTION(mask, (unsigned)whole, (unsigned)by, control);             \
        unsigned hi = warpsim::FUNCTION(mask, (unsigned)(whole >> 32), (unsigned)by, control);     \
        return __builtin_bit_cast(T, (unsigned long long)hi << 32 | lo);                           \
    }                                                                                              \
    WARPSIM_FUNCTION T NAME(T v, BY by, int width = 32) {                                          \
        unsigned long long whole = warpsim::bits_of(v);                                            \
        unsigned control = warpsim::segment(width) | CLAMP;                                        \
        unsigned lo = warpsim::FUNCTION((unsigned)whole, (unsigned)by, control);                   \
        unsigned hi = warpsim::FUNCTION((unsigned)(whole >> 32), (unsigned)by, control);           \
        return __builtin_bit_cast(T, (unsigned long long)hi << 32 | lo);                           \
    }
#define WARPSIM_SHUFFLES(NAME, FUNCTION, CLAMP, BY)                                                \
    WARPSIM_SHUFFLE_32(NAME, FUNCTION, CLAMP, BY, int)                                             \
    WARPSIM_SHUFFLE_32(NAME, FUNCTION, CLAMP, BY, unsigned)                                        \
    WARPSIM_SHUFFLE_32(NAME, FUNCTION, CLAMP, BY, float)                                           \
    WARPSIM_SHUFFLE_64(NAME, FUNCTION, CLAMP, BY, long)                                            \
    WARPSIM_SHUFFLE_64(NAME, FUNCTION, CLAMP, BY, unsigned long)                                   \
    WARPSIM_SHUFFLE_64(NAME, FUNCTION, CLAMP, BY, long long)                                       \
    WARPSIM_SHUFFLE_64(NAME, FUNCTION, CLAMP, BY, unsigned long long)                              \
    WARPSIM_SHUFFLE_64(NAME, FUNCTION, CLAMP, BY, double)
WARPSIM_SHUFFLES(__shfl, shuffle_index, 0x1f, int)
WARPSIM_SHUFFLES(__shfl_up, shuffle_up, 0, unsigned)
WARPSIM_SHUFFLES(__shfl_down, shuffle_down, 0x1f, unsigned)
WARPSIM_SHUFFLES(__shfl_xor, shuffle_xor, 0x1f, int)
#undef WARPSIM_SHUFFLES
#undef WARPSIM_SHUFFLE_32
#undef WARPSIM_SHUFFLE_64
