// What our kernels need of CUDA, for clang without a CUDA installation. Everything maps to one
// PTX instruction or a compiler builtin.
#pragma once

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ inline __attribute__((always_inline))

typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned char u8;
typedef unsigned short u16;

// Vectors that load and store as one access.
#define WARPSIM_VECTOR(TYPE, NAME)                                                             \
    struct __attribute__((aligned(2 * sizeof(TYPE)))) NAME##2 { TYPE x, y; };                  \
    struct __attribute__((aligned(4 * sizeof(TYPE)))) NAME##4 { TYPE x, y, z, w; };
WARPSIM_VECTOR(float, float)
WARPSIM_VECTOR(int, int)
WARPSIM_VECTOR(u32, uint)
#undef WARPSIM_VECTOR
struct float3 { float x, y, z; };
static __device__ __forceinline__ float2 make_float2(float x, float y) { return {x, y}; }
static __device__ __forceinline__ float3 make_float3(float x, float y, float z) { return {x, y, z}; }
static __device__ __forceinline__ float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

// threadIdx.x and its like read a special register where they are used.
#define WARPSIM_INDEX(NAME, REGISTER)                                                          \
    struct NAME {                                                                              \
        __declspec(property(get = get_x)) u32 x;                                               \
        __declspec(property(get = get_y)) u32 y;                                               \
        __declspec(property(get = get_z)) u32 z;                                               \
        static __device__ __forceinline__ u32 get_x() { return __nvvm_read_ptx_sreg_##REGISTER##_x(); } \
        static __device__ __forceinline__ u32 get_y() { return __nvvm_read_ptx_sreg_##REGISTER##_y(); } \
        static __device__ __forceinline__ u32 get_z() { return __nvvm_read_ptx_sreg_##REGISTER##_z(); } \
    };
WARPSIM_INDEX(warpsim_thread_index, tid)
WARPSIM_INDEX(warpsim_block_index, ctaid)
WARPSIM_INDEX(warpsim_block_size, ntid)
WARPSIM_INDEX(warpsim_grid_size, nctaid)
#undef WARPSIM_INDEX

extern const __device__ __attribute__((weak)) warpsim_thread_index threadIdx;
extern const __device__ __attribute__((weak)) warpsim_block_index blockIdx;
extern const __device__ __attribute__((weak)) warpsim_block_size blockDim;
extern const __device__ __attribute__((weak)) warpsim_grid_size gridDim;
static const int warpSize = 32;

// __syncthreads() is a builtin of the compiler.
static __device__ __forceinline__ void __threadfence() { __nvvm_membar_gl(); }
static __device__ __forceinline__ void __threadfence_block() { __nvvm_membar_cta(); }

// Barriers that also combine a predicate over the block.
static __device__ __forceinline__ int __syncthreads_count(int p) { return __nvvm_bar0_popc(p); }
static __device__ __forceinline__ int __syncthreads_and(int p) { return __nvvm_bar0_and(p); }
static __device__ __forceinline__ int __syncthreads_or(int p) { return __nvvm_bar0_or(p); }

// The warp: lane, votes and shuffles among the threads that are there (before `.sync` forms).
static __device__ __forceinline__ u32 __laneid() { return __nvvm_read_ptx_sreg_laneid(); }
// (clang selects no instruction for these any more, so they are written out.)
static __device__ __forceinline__ u32 __ballot(int p) {
    u32 r;
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; vote.ballot.b32 %0, p; }" : "=r"(r) : "r"(p));
    return r;
}
#define WARPSIM_VOTE(NAME, MODE)                                                               \
    static __device__ __forceinline__ int NAME(int p) {                                        \
        int r;                                                                                 \
        asm volatile("{ .reg .pred p, q; setp.ne.s32 p, %1, 0; vote." MODE ".pred q, p; "      \
                     "selp.s32 %0, 1, 0, q; }" : "=r"(r) : "r"(p));                            \
        return r;                                                                              \
    }
WARPSIM_VOTE(__any, "any")
WARPSIM_VOTE(__all, "all")
#undef WARPSIM_VOTE
#define WARPSIM_SHUFFLE(NAME, MODE, CLAMP)                                                     \
    static __device__ __forceinline__ int NAME(int v, int by) {                                \
        int r;                                                                                 \
        asm volatile("shfl." MODE ".b32 %0, %1, %2, " CLAMP ";" : "=r"(r) : "r"(v), "r"(by));  \
        return r;                                                                              \
    }
WARPSIM_SHUFFLE(__shfl, "idx", "31")
WARPSIM_SHUFFLE(__shfl_up, "up", "0")
WARPSIM_SHUFFLE(__shfl_down, "down", "31")
WARPSIM_SHUFFLE(__shfl_xor, "bfly", "31")
#undef WARPSIM_SHUFFLE

// Atomics. The compiler turns those on arrays in shared memory into atom.shared.
static __device__ __forceinline__ int atomicAdd(int *p, int v) { return __nvvm_atom_add_gen_i(p, v); }
static __device__ __forceinline__ u32 atomicAdd(u32 *p, u32 v) { return (u32)__nvvm_atom_add_gen_i((int *)p, (int)v); }
static __device__ __forceinline__ float atomicAdd(float *p, float v) { return __nvvm_atom_add_gen_f(p, v); }
static __device__ __forceinline__ int atomicMin(int *p, int v) { return __nvvm_atom_min_gen_i(p, v); }
static __device__ __forceinline__ int atomicMax(int *p, int v) { return __nvvm_atom_max_gen_i(p, v); }
static __device__ __forceinline__ u32 atomicMin(u32 *p, u32 v) { return __nvvm_atom_min_gen_ui(p, v); }
static __device__ __forceinline__ u32 atomicMax(u32 *p, u32 v) { return __nvvm_atom_max_gen_ui(p, v); }
static __device__ __forceinline__ u32 atomicExch(u32 *p, u32 v) { return (u32)__nvvm_atom_xchg_gen_i((int *)p, (int)v); }
static __device__ __forceinline__ u32 atomicCAS(u32 *p, u32 c, u32 v) { return (u32)__nvvm_atom_cas_gen_i((int *)p, (int)c, (int)v); }
static __device__ __forceinline__ u32 atomicOr(u32 *p, u32 v) { return (u32)__nvvm_atom_or_gen_i((int *)p, (int)v); }
static __device__ __forceinline__ u64 atomicAdd(u64 *p, u64 v) { return (u64)__nvvm_atom_add_gen_ll((long long *)p, (long long)v); }
static __device__ __forceinline__ int atomicCAS(int *p, int c, int v) { return __nvvm_atom_cas_gen_i(p, c, v); }
static __device__ __forceinline__ int atomicExch(int *p, int v) { return __nvvm_atom_xchg_gen_i(p, v); }
static __device__ __forceinline__ u32 atomicXor(u32 *p, u32 v) { return (u32)__nvvm_atom_xor_gen_i((int *)p, (int)v); }
static __device__ __forceinline__ u32 atomicAnd(u32 *p, u32 v) { return (u32)__nvvm_atom_and_gen_i((int *)p, (int)v); }

// Fast approximations on the special function unit, and exact operations.
static __device__ __forceinline__ float __sinf(float x) { return __nvvm_sin_approx_f(x); }
static __device__ __forceinline__ float __cosf(float x) { return __nvvm_cos_approx_f(x); }
static __device__ __forceinline__ float exp2f_approx(float x) { return __nvvm_ex2_approx_f(x); }
static __device__ __forceinline__ float log2f_approx(float x) { return __nvvm_lg2_approx_f(x); }
static __device__ __forceinline__ float __expf(float x) { return __nvvm_ex2_approx_f(x * 1.4426950408889634f); }
static __device__ __forceinline__ float __logf(float x) { return __nvvm_lg2_approx_f(x) * 0.6931471805599453f; }
static __device__ __forceinline__ float rsqrtf(float x) { return __nvvm_rsqrt_approx_f(x); }
static __device__ __forceinline__ float sqrtf(float x) { return __nvvm_sqrt_rn_f(x); }
static __device__ __forceinline__ float __frcp_rn(float x) { return __nvvm_rcp_rn_f(x); }
static __device__ __forceinline__ float fmaf(float a, float b, float c) { return __nvvm_fma_rn_f(a, b, c); }
static __device__ __forceinline__ float fabsf(float x) { return __nvvm_fabs_f(x); }
static __device__ __forceinline__ float fminf(float a, float b) { return __nvvm_fmin_f(a, b); }
static __device__ __forceinline__ float fmaxf(float a, float b) { return __nvvm_fmax_f(a, b); }
static __device__ __forceinline__ float floorf(float x) { return __nvvm_floor_f(x); }
static __device__ __forceinline__ int min(int a, int b) { return a < b ? a : b; }
static __device__ __forceinline__ int max(int a, int b) { return a > b ? a : b; }
static __device__ __forceinline__ u32 umin(u32 a, u32 b) { return a < b ? a : b; }
static __device__ __forceinline__ u32 umax(u32 a, u32 b) { return a > b ? a : b; }
static __device__ __forceinline__ int __popc(u32 x) { return __builtin_popcount(x); }
static __device__ __forceinline__ int __clz(u32 x) { return x ? __builtin_clz(x) : 32; }
static __device__ __forceinline__ int __ffs(u32 x) { return __builtin_ffs((int)x); }
static __device__ __forceinline__ u32 __brev(u32 x) { return __builtin_bitreverse32(x); }
static __device__ __forceinline__ u32 __umulhi(u32 a, u32 b) { return (u32)(((u64)a * b) >> 32); }
static __device__ __forceinline__ u32 __rotl(u32 x, int by) { return x << by | x >> (32 - by); }
static __device__ __forceinline__ float __fdividef(float a, float b) { return __nvvm_div_approx_f(a, b); }
static __device__ __forceinline__ float __frsqrt(float x) { return __nvvm_rsqrt_approx_f(x); }
static __device__ __forceinline__ float ceilf(float x) { return __nvvm_ceil_f(x); }
static __device__ __forceinline__ float __saturatef(float x) { return __nvvm_saturate_f(x); }
static __device__ __forceinline__ float __powf(float x, float y) { return __nvvm_ex2_approx_f(y * __nvvm_lg2_approx_f(x)); }
static __device__ __forceinline__ int __float_as_int(float x) { return __nvvm_bitcast_f2i(x); }
static __device__ __forceinline__ float __int_as_float(int x) { return __nvvm_bitcast_i2f(x); }
// Read-only loads (ld.global.nc).
static __device__ __forceinline__ float __ldg(const float *p) { return __nvvm_ldg_f(p); }
static __device__ __forceinline__ int __ldg(const int *p) { return __nvvm_ldg_i(p); }
