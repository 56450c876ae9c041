// Loads and stores with a cache policy: pointers to anything that has 4, 8 or 16 bytes, or less.
#pragma once

WARPSIM_FUNCTION signed char __ldg(const signed char *p) { return __nvvm_ldg_c((const char *)p); }
WARPSIM_FUNCTION char __ldg(const char *p) { return __nvvm_ldg_c(p); }
WARPSIM_FUNCTION unsigned char __ldg(const unsigned char *p) { return __nvvm_ldg_uc(p); }
WARPSIM_FUNCTION short __ldg(const short *p) { return __nvvm_ldg_s(p); }
WARPSIM_FUNCTION unsigned short __ldg(const unsigned short *p) { return __nvvm_ldg_us(p); }

namespace warpsim {
// The bits of a value as words that one access moves.
template <int BYTES> struct words;
template <> struct words<4> { unsigned x; };
template <> struct words<8> { unsigned x, y; };
template <> struct words<16> { unsigned x, y, z, w; };
#define WARPSIM_LOAD(NAME, FORM)                                                                   \
    WARPSIM_FUNCTION words<4> NAME(const void *p, words<4>) {                                      \
        words<4> r;                                                                                \
        asm volatile("ld.global." FORM ".b32 %0, [%1];" : "=r"(r.x) : "l"(global(p)));      \
        return r;                                                                                  \
    }                                                                                              \
    WARPSIM_FUNCTION words<8> NAME(const void *p, words<8>) {                                      \
        words<8> r;                                                                                \
        asm volatile("ld.global." FORM ".v2.b32 {%0, %1}, [%2];" : "=r"(r.x), "=r"(r.y) : "l"(global(p))); \
        return r;                                                                                  \
    }                                                                                              \
    WARPSIM_FUNCTION words<16> NAME(const void *p, words<16>) {                                    \
        words<16> r;                                                                               \
        asm volatile("ld.global." FORM ".v4.b32 {%0, %1, %2, %3}, [%4];"                           \
                     : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w) : "l"(global(p)));        \
        return r;                                                                                  \
    }
#define WARPSIM_STORE(NAME, FORM)                                                                  \
    WARPSIM_FUNCTION void NAME(void *p, words<4> v) {                                              \
        asm volatile("st.global." FORM ".b32 [%0], %1;" ::"l"(global(p)), "r"(v.x) : "memory"); \
    }                                                                                              \
    WARPSIM_FUNCTION void NAME(void *p, words<8> v) {                                              \
        asm volatile("st.global." FORM ".v2.b32 [%0], {%1, %2};" ::"l"(global(p)), "r"(v.x), "r"(v.y) : "memory"); \
    }                                                                                              \
    WARPSIM_FUNCTION void NAME(void *p, words<16> v) {                                             \
        asm volatile("st.global." FORM ".v4.b32 [%0], {%1, %2, %3, %4};"                           \
                     ::"l"(global(p)), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");  \
    }
// Addresses of global memory are the same in the generic space.
WARPSIM_FUNCTION const void *global(const void *p) { return p; }
WARPSIM_LOAD(load_nc, "nc")
WARPSIM_LOAD(load_ca, "ca")
WARPSIM_LOAD(load_cg, "cg")
WARPSIM_LOAD(load_cs, "cs")
WARPSIM_LOAD(load_cv, "cv")
WARPSIM_STORE(store_wb, "wb")
WARPSIM_STORE(store_cg, "cg")
WARPSIM_STORE(store_cs, "cs")
WARPSIM_STORE(store_wt, "wt")
#undef WARPSIM_LOAD
#undef WARPSIM_STORE
} // namespace warpsim

#define WARPSIM_LOAD(NAME, FUNCTION)                                                               \
    template <class T> WARPSIM_FUNCTION T NAME(const T *p) {                                       \
        return __builtin_bit_cast(T, warpsim::FUNCTION(p, warpsim::words<sizeof(T)>()));           \
    }
WARPSIM_LOAD(__ldg, load_nc)
WARPSIM_LOAD(__ldca, load_ca)
WARPSIM_LOAD(__ldcg, load_cg)
WARPSIM_LOAD(__ldcs, load_cs)
WARPSIM_LOAD(__ldcv, load_cv)
#undef WARPSIM_LOAD
#define WARPSIM_STORE(NAME, FUNCTION)                                                              \
    template <class T> WARPSIM_FUNCTION void NAME(T *p, T v) {                                     \
        warpsim::FUNCTION(p, __builtin_bit_cast(warpsim::words<sizeof(T)>, v));                    \
    }
WARPSIM_STORE(__stwb, store_wb)
WARPSIM_STORE(__stcg, store_cg)
WARPSIM_STORE(__stcs, store_cs)
WARPSIM_STORE(__stwt, store_wt)
#undef WARPSIM_STORE

// Address spaces.
WARPSIM_FUNCTION unsigned __cvta_generic_to_shared(const void *p) {
    unsigned long long r;
    asm("cvta.to.shared.u64 %0, %1;" : "=l"(r) : "l"(p));
    return (unsigned)r;
}
WARPSIM_FUNCTION size_t __cvta_generic_to_global(const void *p) { return (size_t)p; }
