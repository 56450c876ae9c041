// Copies that go on by themselves, in groups, and barriers in shared memory.
#include <cuda_awbarrier_primitives.h>
#include <cuda_pipeline.h>
extern "C" __global__ void groups(const int *in, int *out) {
    __shared__ int held[2][64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&held[0][t], in + t, 4);
    __pipeline_commit();
    __pipeline_memcpy_async(&held[1][t], in + 64 + t, 4);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    int first = held[0][63 - t];
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = first + held[1][(t + 1) % 64];
}
extern "C" __global__ void barriers(const int *in, int *out) {
    __shared__ __mbarrier_t barrier;
    __shared__ int held[64];
    int t = threadIdx.x;
    if (t == 0)
        __mbarrier_init(&barrier, 64);
    __syncthreads();
    held[t] = in[t];
    __mbarrier_token_t token = __mbarrier_arrive(&barrier);
    while (!__mbarrier_test_wait(&barrier, token))
        ;
    out[t] = held[63 - t];
}
