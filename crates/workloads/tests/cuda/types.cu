// A file as programmers write it: includes, host code, vectors, half, groups, constants.
#include <cuda_runtime.h>
#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <stdio.h>
#include <assert.h>
#include <math.h>
#include "device_launch_parameters.h"
#include "check.h"

namespace cg = cooperative_groups;

__constant__ float taps[3] = {1.0f, 2.0f, 4.0f};
__device__ __align__(16) float data[8] = {0, 1, 2, 3, 4, 5, 6, 7};

template <typename T> __host__ __device__ __forceinline__ T twice(T x) { return x + x; }
__device__ __noinline__ float apart(float x) { return x * 3.0f; }

KERNEL(vectors) {
    float4 v = ((const float4 *)data)[zero + 1];
    CHECK(v.x == 4 && v.y == 5 && v.z == 6 && v.w == 7);
    float2 a = make_float2(zero + 1.0f, 2.0f);
    int3 b = make_int3(zero + 1, 2, 3);
    uchar4 c = make_uchar4(zero + 255, 1, 2, 3);
    double2 d = make_double2(zero + 0.5, 1.5);
    ulonglong2 e = make_ulonglong2(zero + 1, 2);
    CHECK(a.x + a.y == 3.0f && b.x + b.y + b.z == 6 && c.x == 255 && d.x + d.y == 2.0 && e.y == 2);
    CHECK(sizeof(float3) == 12 && alignof(float4) == 16 && sizeof(uchar4) == 4 && alignof(double2) == 16 && sizeof(dim3) == 12);
    dim3 g(3, 4);
    CHECK(g.x * g.y * g.z == 12);
    uint3 t = threadIdx;
    dim3 size = blockDim;
    CHECK(t.x == threadIdx.x && size.x == 64 && size.y == 1 && gridDim.x == 1 && blockIdx.x == 0);
    size_t n = sizeof(data);
    CHECK(n == 32 && taps[zero + 2] == 4.0f && twice(zero + 2.5f) == 5.0f && apart(zero + 2.0f) == 6.0f);
    CHECK(__ldg(&data[zero + 3]) == 3.0f && __ldg((const int *)&data[zero]) == 0 && __ldg((const float4 *)data).w == 3.0f);
    CHECK(__ldcg(&data[zero + 3]) == 3.0f && __ldca((const float2 *)data).y == 1.0f && __ldcs(&data[zero + 1]) == 1.0f);
}

KERNEL(halves) {
    half a = __float2half(zero + 1.5f);
    half b = __float2half(0.25f);
    CHECK(__half2float(a + b) == 1.75f && __half2float(a * b) == 0.375f && __half2float(a - b) == 1.25f && __half2float(a / b) == 6.0f);
    CHECK(__half2float(__hfma(a, b, a)) == 1.875f && a > b && __hlt(b, a) && __half2float(-a) == -1.5f && float(__habs(-a)) == 1.5f);
    CHECK(__half_as_ushort(a) == 0x3e00 && __half2float(__ushort_as_half(zero + 0x3c00)) == 1.0f);
    CHECK(__half2float(__float2half(zero + 65520.0f)) == INFINITY && __half2float(__float2half(zero + 0.1f)) == 0.0999755859375f);
    half2 p = __floats2half2_rn(zero + 1.0f, 2.0f);
    half2 q = __hadd2(p, __half2half2(b));
    CHECK(__low2float(q) == 1.25f && __high2float(q) == 2.25f && __half22float2(__hmul2(p, p)).y == 4.0f);
    CHECK(__half2float(__shfl_xor_sync(0xffffffffu, __float2half((float)threadIdx.x), 1)) == (threadIdx.x ^ 1));
    CHECK(__half2float(hsqrt(__float2half(zero + 4.0f))) == 2.0f && __half2int_rn(a) == 2);
}

KERNEL(groups) {
    cg::thread_block block = cg::this_thread_block();
    CHECK(block.size() == 64 && block.thread_rank() == threadIdx.x && block.group_index().x == 0);
    block.sync();
    cg::sync(block);
    auto warp = cg::tiled_partition<32>(block);
    auto eight = cg::tiled_partition<8>(block);
    CHECK(warp.size() == 32 && warp.thread_rank() == threadIdx.x % 32 && warp.meta_group_rank() == threadIdx.x / 32);
    CHECK(eight.shfl(threadIdx.x * 0.5f, 2) == ((threadIdx.x & ~7) + 2) * 0.5f);
    CHECK(eight.shfl_xor((int)threadIdx.x, 1) == (int)(threadIdx.x ^ 1) && warp.shfl_down((int)threadIdx.x, 32) == (int)threadIdx.x);
    CHECK(eight.any(threadIdx.x % 8 == 7) && !eight.all(threadIdx.x % 8 == 7) && eight.ballot(threadIdx.x % 8 < 2) == 3);
    float sum = 1.0f;
    for (int by = warp.size() / 2; by > 0; by /= 2)
        sum += warp.shfl_down(sum, by);
    CHECK(warp.thread_rank() != 0 || sum == 32.0f);
    CHECK(cg::reduce(eight, (int)eight.thread_rank(), cg::plus<int>()) == 28);
    warp.sync();
    if (threadIdx.x % 2) {
        cg::coalesced_group odd = cg::coalesced_threads();
        CHECK(odd.size() == 16 && odd.thread_rank() == (threadIdx.x & 31) / 2 && odd.shfl((int)threadIdx.x & 31, 3) == 7);
    }
    cg::grid_group grid = cg::this_grid();
    CHECK(grid.size() == 64 && grid.thread_rank() == threadIdx.x);
}

extern __shared__ float dynamic[];
KERNEL(prints) {
    assert(zero == 0);
    if (threadIdx.x == 33)
        printf("thread %d says %.2f %s\n", threadIdx.x, zero + 2.5, "words");
}

KERNEL(fails) {
    assert(threadIdx.x < (unsigned)zero + 40);
}

int main() {
    unsigned *fail = nullptr;
    cudaMalloc(&fail, sizeof(unsigned));
    cudaMemset(fail, 0, sizeof(unsigned));
    vectors<<<dim3(1), 64>>>(fail, 0);
    if (cudaDeviceSynchronize() != cudaSuccess)
        printf("%s\n", cudaGetErrorString(cudaGetLastError()));
    cudaFree(fail);
    return 0;
}
