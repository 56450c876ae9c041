// threadIdx and its like: each component reads a special register where it is used.
#pragma once

#define WARPSIM_INDEX(NAME, REGISTER, TYPE)                                                        \
    struct NAME {                                                                                  \
        __declspec(property(get = get_x)) unsigned x;                                              \
        __declspec(property(get = get_y)) unsigned y;                                              \
        __declspec(property(get = get_z)) unsigned z;                                              \
        static WARPSIM_METHOD unsigned get_x() { return __nvvm_read_ptx_sreg_##REGISTER##_x(); }   \
        static WARPSIM_METHOD unsigned get_y() { return __nvvm_read_ptx_sreg_##REGISTER##_y(); }   \
        static WARPSIM_METHOD unsigned get_z() { return __nvvm_read_ptx_sreg_##REGISTER##_z(); }   \
        WARPSIM_METHOD operator TYPE() const { return {get_x(), get_y(), get_z()}; }               \
        WARPSIM_INDEX_CONVERSION_##TYPE                                                            \
    };
#define WARPSIM_INDEX_CONVERSION_uint3 WARPSIM_METHOD operator dim3() const { return dim3(get_x(), get_y(), get_z()); }
#define WARPSIM_INDEX_CONVERSION_dim3 WARPSIM_METHOD operator uint3() const { return {get_x(), get_y(), get_z()}; }
WARPSIM_INDEX(warpsim_thread_index, tid, uint3)
WARPSIM_INDEX(warpsim_block_index, ctaid, uint3)
WARPSIM_INDEX(warpsim_block_size, ntid, dim3)
WARPSIM_INDEX(warpsim_grid_size, nctaid, dim3)
#undef WARPSIM_INDEX

extern const __device__ __attribute__((weak)) warpsim_thread_index threadIdx;
extern const __device__ __attribute__((weak)) warpsim_block_index blockIdx;
extern const __device__ __attribute__((weak)) warpsim_block_size blockDim;
extern const __device__ __attribute__((weak)) warpsim_grid_size gridDim;
static constexpr int warpSize = 32;

WARPSIM_FUNCTION unsigned __laneid() { return __nvvm_read_ptx_sreg_laneid(); }

// Time: cycles of the SM, which a simulator counts exactly; nanoseconds of the device.
typedef long clock_t;
WARPSIM_FUNCTION clock_t clock() {
    int r;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(r)::"memory");
    return r;
}
WARPSIM_FUNCTION long long clock64() {
    long long r;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(r)::"memory");
    return r;
}
WARPSIM_FUNCTION unsigned long long __globaltimer() {
    unsigned long long r;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(r)::"memory");
    return r;
}
WARPSIM_FUNCTION void __nanosleep(unsigned ns) { asm volatile("nanosleep.u32 %0;" ::"r"(ns)); }
WARPSIM_FUNCTION void __trap() { asm volatile("trap;"); }
WARPSIM_FUNCTION void __brkpt() { asm volatile("brkpt;"); }
