// Atomics, each in three widths: `_block` and `_system` name the threads it is atomic for, which
// makes no difference to one simulated GPU. Generic addresses become those of shared or global memory
// where the compiler sees which they are.
#pragma once

#define WARPSIM_SCOPES(RESULT, NAME, ARGUMENTS, CALL)                                              \
    WARPSIM_FUNCTION RESULT NAME##_block ARGUMENTS { return NAME CALL; }                           \
    WARPSIM_FUNCTION RESULT NAME##_system ARGUMENTS { return NAME CALL; }

// Those that the compiler has a builtin for; UNSIGNED goes through the signed builtin where the bits
// are the same.
#define WARPSIM_ATOMIC(NAME, T, BUILTIN, AS)                                                       \
    WARPSIM_FUNCTION T NAME(T *p, T v) { return (T)BUILTIN((AS *)p, (AS)v); }                      \
    WARPSIM_SCOPES(T, NAME, (T * p, T v), (p, v))
#define WARPSIM_ATOMIC_SAME_BITS(NAME, STEM)                                                       \
    WARPSIM_ATOMIC(NAME, int, STEM##_i, int)                                                       \
    WARPSIM_ATOMIC(NAME, unsigned, STEM##_i, int)                                                  \
    WARPSIM_ATOMIC(NAME, long long, STEM##_ll, long long)                                          \
    WARPSIM_ATOMIC(NAME, unsigned long long, STEM##_ll, long long)                                 \
    WARPSIM_ATOMIC(NAME, unsigned long, STEM##_ll, long long)
#define WARPSIM_ATOMIC_BY_SIGN(NAME, STEM)                                                         \
    WARPSIM_ATOMIC(NAME, int, STEM##_i, int)                                                       \
    WARPSIM_ATOMIC(NAME, unsigned, STEM##_ui, unsigned)                                            \
    WARPSIM_ATOMIC(NAME, long long, STEM##_ll, long long)                                          \
    WARPSIM_ATOMIC(NAME, unsigned long long, STEM##_ull, unsigned long long)
WARPSIM_ATOMIC_SAME_BITS(atomicAdd, __nvvm_atom_add_gen)
WARPSIM_ATOMIC_SAME_BITS(atomicExch, __nvvm_atom_xchg_gen)
WARPSIM_ATOMIC_SAME_BITS(atomicAnd, __nvvm_atom_and_gen)
WARPSIM_ATOMIC_SAME_BITS(atomicOr, __nvvm_atom_or_gen)
WARPSIM_ATOMIC_SAME_BITS(atomicXor, __nvvm_atom_xor_gen)
WARPSIM_ATOMIC_BY_SIGN(atomicMin, __nvvm_atom_min_gen)
WARPSIM_ATOMIC_BY_SIGN(atomicMax, __nvvm_atom_max_gen)
WARPSIM_ATOMIC(atomicInc, unsigned, __nvvm_atom_inc_gen_ui, unsigned)
WARPSIM_ATOMIC(atomicDec, unsigned, __nvvm_atom_dec_gen_ui, unsigned)
#undef WARPSIM_ATOMIC_SAME_BITS
#undef WARPSIM_ATOMIC_BY_SIGN
#undef WARPSIM_ATOMIC

WARPSIM_FUNCTION int atomicSub(int *p, int v) { return atomicAdd(p, (int)(0u - (unsigned)v)); }
WARPSIM_FUNCTION unsigned atomicSub(unsigned *p, unsigned v) { return atomicAdd(p, 0u - v); }
WARPSIM_SCOPES(int, atomicSub, (int *p, int v), (p, v))
WARPSIM_SCOPES(unsigned, atomicSub, (unsigned *p, unsigned v), (p, v))

WARPSIM_FUNCTION float atomicAdd(float *p, float v) { return __nvvm_atom_add_gen_f(p, v); }
WARPSIM_SCOPES(float, atomicAdd, (float *p, float v), (p, v))
WARPSIM_FUNCTION double atomicAdd(double *p, double v) {
    double r;
    asm volatile("atom.add.f64 %0, [%1], %2;" : "=d"(r) : "l"(p), "d"(v) : "memory");
    return r;
}
WARPSIM_SCOPES(double, atomicAdd, (double *p, double v), (p, v))
WARPSIM_FUNCTION float atomicExch(float *p, float v) {
    return __builtin_bit_cast(float, atomicExch((int *)p, __builtin_bit_cast(int, v)));
}
WARPSIM_SCOPES(float, atomicExch, (float *p, float v), (p, v))

#define WARPSIM_CAS(T, BUILTIN, AS)                                                                \
    WARPSIM_FUNCTION T atomicCAS(T *p, T compare, T v) { return (T)BUILTIN((AS *)p, (AS)compare, (AS)v); } \
    WARPSIM_SCOPES(T, atomicCAS, (T * p, T compare, T v), (p, compare, v))
WARPSIM_CAS(int, __nvvm_atom_cas_gen_i, int)
WARPSIM_CAS(unsigned, __nvvm_atom_cas_gen_i, int)
WARPSIM_CAS(long long, __nvvm_atom_cas_gen_ll, long long)
WARPSIM_CAS(unsigned long long, __nvvm_atom_cas_gen_ll, long long)
#undef WARPSIM_CAS
WARPSIM_FUNCTION unsigned short atomicCAS(unsigned short *p, unsigned short compare, unsigned short v) {
    unsigned short r;
    asm volatile("atom.cas.b16 %0, [%1], %2, %3;" : "=h"(r) : "l"(p), "h"(compare), "h"(v) : "memory");
    return r;
}
#undef WARPSIM_SCOPES
