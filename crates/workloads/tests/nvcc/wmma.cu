// Products of small matrices with nvcuda::wmma: every type that tensor cores take.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
namespace sub = wmma::experimental;

template <int M, int N, int K, typename In, typename LayoutA, typename LayoutB, typename Out, typename Store>
__device__ void product(const Store *a, unsigned lda, const Store *b, unsigned ldb, Out *c) {
    wmma::fragment<wmma::matrix_a, M, N, K, In, LayoutA> left;
    wmma::fragment<wmma::matrix_b, M, N, K, In, LayoutB> right;
    wmma::fragment<wmma::accumulator, M, N, K, Out> sum;
    wmma::fill_fragment(sum, Out(0));
    wmma::load_matrix_sync(left, a, lda);
    wmma::load_matrix_sync(right, b, ldb);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(c, sum, N, wmma::mem_row_major);
}
using row = wmma::row_major;
using col = wmma::col_major;

extern "C" __global__ void half_16x16x16(const half *a, const half *b, float *c) {
    product<16, 16, 16, half, row, col>(a, 16, b, 16, c);
}
extern "C" __global__ void bf16_32x8x16(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *c) {
    product<32, 8, 16, __nv_bfloat16, row, row>(a, 16, b, 8, c);
}
extern "C" __global__ void tf32_16x16x8(const float *a, const float *b, float *c) {
    product<16, 16, 8, wmma::precision::tf32, row, row>(a, 8, b, 16, c);
}
extern "C" __global__ void s8_8x32x16(const signed char *a, const signed char *b, int *c) {
    product<8, 32, 16, signed char, row, row>(a, 16, b, 32, c);
}
extern "C" __global__ void u4_8x8x32(const int *a, const int *b, int *c) {
    product<8, 8, 32, sub::precision::u4, row, col>(a, 32, b, 32, c);
}
extern "C" __global__ void b1_8x8x128(const int *a, const int *b, int *c) {
    wmma::fragment<wmma::matrix_a, 8, 8, 128, sub::precision::b1, row> left;
    wmma::fragment<wmma::matrix_b, 8, 8, 128, sub::precision::b1, col> right;
    wmma::fragment<wmma::accumulator, 8, 8, 128, int> sum;
    wmma::fill_fragment(sum, 0);
    wmma::load_matrix_sync(left, a, 128);
    wmma::load_matrix_sync(right, b, 128);
    wmma::bmma_sync(sum, left, right, sum, sub::bmmaBitOpAND);
    wmma::store_matrix_sync(c, sum, 8, wmma::mem_row_major);
}
extern "C" __global__ void f64_8x8x4(const double *a, const double *b, double *c) {
    product<8, 8, 4, double, row, col>(a, 4, b, 4, c);
}
