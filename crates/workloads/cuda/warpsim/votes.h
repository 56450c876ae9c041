// Votes, matches and reductions over a warp; the forms without `_sync` are those of old CUDA and ask
// whoever is there.
#pragma once

WARPSIM_FUNCTION unsigned __activemask() {
    unsigned r;
    asm volatile("activemask.b32 %0;" : "=r"(r));
    return r;
}
WARPSIM_FUNCTION unsigned __ballot_sync(unsigned mask, int p) {
    unsigned r;
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; vote.sync.ballot.b32 %0, p, %2; }" : "=r"(r) : "r"(p), "r"(mask));
    return r;
}
WARPSIM_FUNCTION unsigned __ballot(int p) {
    unsigned r;
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; vote.ballot.b32 %0, p; }" : "=r"(r) : "r"(p));
    return r;
}
#define WARPSIM_VOTE(NAME, MODE)                                                                   \
    WARPSIM_FUNCTION int NAME##_sync(unsigned mask, int p) {                                       \
        int r;                                                                                     \
        asm volatile("{ .reg .pred p, q; setp.ne.s32 p, %1, 0; vote.sync." MODE                    \
                     ".pred q, p, %2; selp.s32 %0, 1, 0, q; }" : "=r"(r) : "r"(p), "r"(mask));     \
        return r;                                                                                  \
    }                                                                                              \
    WARPSIM_FUNCTION int NAME(int p) {                                                             \
        int r;                                                                                     \
        asm volatile("{ .reg .pred p, q; setp.ne.s32 p, %1, 0; vote." MODE                         \
                     ".pred q, p; selp.s32 %0, 1, 0, q; }" : "=r"(r) : "r"(p));                    \
        return r;                                                                                  \
    }
WARPSIM_VOTE(__any, "any")
WARPSIM_VOTE(__all, "all")
WARPSIM_VOTE(__uni, "uni")
#undef WARPSIM_VOTE

namespace warpsim {
// The bits of a value, as an integer of its size.
WARPSIM_FUNCTION unsigned bits_of(int v) { return (unsigned)v; }
WARPSIM_FUNCTION unsigned bits_of(unsigned v) { return v; }
WARPSIM_FUNCTION unsigned bits_of(float v) { return __builtin_bit_cast(unsigned, v); }
WARPSIM_FUNCTION unsigned long long bits_of(long v) { return (unsigned long long)v; }
WARPSIM_FUNCTION unsigned long long bits_of(unsigned long v) { return v; }
WARPSIM_FUNCTION unsigned long long bits_of(long long v) { return (unsigned long long)v; }
WARPSIM_FUNCTION unsigned long long bits_of(unsigned long long v) { return v; }
WARPSIM_FUNCTION unsigned long long bits_of(double v) { return __builtin_bit_cast(unsigned long long, v); }
WARPSIM_FUNCTION unsigned match_any(unsigned mask, unsigned v) {
    unsigned r;
    asm volatile("match.any.sync.b32 %0, %1, %2;" : "=r"(r) : "r"(v), "r"(mask));
    return r;
}
WARPSIM_FUNCTION unsigned match_any(unsigned mask, unsigned long long v) {
    unsigned r;
    asm volatile("match.any.sync.b64 %0, %1, %2;" : "=r"(r) : "l"(v), "r"(mask));
    return r;
}
WARPSIM_FUNCTION unsigned match_all(unsigned mask, unsigned v, int *all) {
    unsigned r;
    int p;
    asm volatile("{ .reg .pred p; match.all.sync.b32 %0|p, %2, %3; selp.s32 %1, 1, 0, p; }"
                 : "=r"(r), "=r"(p) : "r"(v), "r"(mask));
    *all = p;
    return r;
}
WARPSIM_FUNCTION unsigned match_all(unsigned mask, unsigned long long v, int *all) {
    unsigned r;
    int p;
    asm volatile("{ .reg .pred p; match.all.sync.b64 %0|p, %2, %3; selp.s32 %1, 1, 0, p; }"
                 : "=r"(r), "=r"(p) : "l"(v), "r"(mask));
    *all = p;
    return r;
}
} // namespace warpsim
template <class T> WARPSIM_FUNCTION unsigned __match_any_sync(unsigned mask, T v) { return warpsim::match_any(mask, warpsim::bits_of(v)); }
template <class T> WARPSIM_FUNCTION unsigned __match_all_sync(unsigned mask, T v, int *all) { return warpsim::match_all(mask, warpsim::bits_of(v), all); }

#define WARPSIM_REDUCE(NAME, T, FORM)                                                              \
    WARPSIM_FUNCTION T NAME(unsigned mask, T v) {                                                  \
        T r;                                                                                       \
        asm volatile("redux.sync." FORM " %0, %1, %2;" : "=r"(r) : "r"(v), "r"(mask));             \
        return r;                                                                                  \
    }
WARPSIM_REDUCE(__reduce_add_sync, int, "add.s32")
WARPSIM_REDUCE(__reduce_add_sync, unsigned, "add.u32")
WARPSIM_REDUCE(__reduce_min_sync, int, "min.s32")
WARPSIM_REDUCE(__reduce_min_sync, unsigned, "min.u32")
WARPSIM_REDUCE(__reduce_max_sync, int, "max.s32")
WARPSIM_REDUCE(__reduce_max_sync, unsigned, "max.u32")
WARPSIM_REDUCE(__reduce_and_sync, unsigned, "and.b32")
WARPSIM_REDUCE(__reduce_or_sync, unsigned, "or.b32")
WARPSIM_REDUCE(__reduce_xor_sync, unsigned, "xor.b32")
#undef WARPSIM_REDUCE
