#include <cstdio>
#include <cassert>
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_bf16.h>


struct Particle { float x, y, z; int id; double mass; };
__constant__ float coefficients[16] = {1.f, 2.f, 3.f};
__device__ int counter;
__device__ __noinline__ float helper(Particle p, float w) { return p.x * w + p.y * __sinf(w) + (float)p.mass; }
__global__ void particles(Particle* p, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Particle q = p[i];
  out[i] = helper(q, coefficients[i & 15]) / (q.z + 1.0f) + __expf(q.x) + sqrtf(q.z) + rsqrtf(q.y);
  if (i == 0) printf("first particle %d %f\n", q.id, q.x);
  assert(q.id >= 0);
}
template <typename T> __global__ void reduce(const T* in, T* out, int n) {
  extern __shared__ unsigned char raw[];
  T* tile = (T*)raw;
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  tile[t] = i < n ? in[i] : T(0);
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) { if (t < s) tile[t] += tile[t + s]; __syncthreads(); }
  if (t == 0) atomicAdd(out, tile[0]);
}
template __global__ void reduce<float>(const float*, float*, int);
template __global__ void reduce<int>(const int*, int*, int);
__global__ void shuffles(int* data) {
  int v = data[threadIdx.x];
  for (int o = 16; o; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o);
  unsigned b = __ballot_sync(0xffffffff, v & 1);
  if (__any_sync(0xffffffff, v > 100)) v += __popc(b) + __clz(v) + __ffs(v) + __brev(v);
#if __CUDA_ARCH__ >= 800
  v += __reduce_add_sync(0xffffffff, v);
#endif
  data[threadIdx.x] = v;
  if (threadIdx.x == 0) atomicCAS(&counter, 0, v);
}
__global__ void halves(const __half2* a, __half2* b, const __nv_bfloat16* c, float* d, int n) {
  int i = threadIdx.x;
  if (i < n) { b[i] = __hfma2(a[i], a[i], b[i]); d[i] = __bfloat162float(c[i]) + __half2float(__low2half(a[i])); }
}
__global__ void doubles(double* a, long long* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { a[i] = fabs(a[i]) + 1.0 / sqrt(a[i] * a[i] + 2.0); b[i] = b[i] / 7 % 1000 + __double2ll_rn(a[i]); }
}
__global__ void switches(int* a, int n) {
  int i = threadIdx.x;
  switch (a[i] % 9) { case 0: a[i] = 5; break; case 1: a[i] *= 3; break; case 2: a[i] += n; break; case 3: a[i] = -a[i]; break; case 4: a[i] ^= 99; break; case 5: a[i] <<= 2; break; case 6: a[i] |= 8; break; default: a[i] = 0; }
}
__global__ void textures(cudaTextureObject_t t, float* out, int w) {
  int x = threadIdx.x, y = blockIdx.x;
  out[y * w + x] = tex2D<float>(t, x + 0.5f, y + 0.5f) + tex1Dfetch<float>(t, x);
}
__global__ void locals(int* a, int n) {
  int stack[64]; int top = 0;
  for (int i = 0; i < n; i++) { stack[top++ & 63] = a[i]; if (a[i] & 1) top--; }
  int s = 0; for (int i = 0; i < 64; i++) s += stack[(i + a[0]) & 63];
  a[threadIdx.x] = s;
}
__global__ void __launch_bounds__(128, 4) bounded(float4* a) { float4 v = a[threadIdx.x]; v.x += v.w; v.y = fminf(v.y, v.z); a[threadIdx.x] = v; }
__global__ void grid_sync_free(unsigned long long* t) { t[threadIdx.x] = clock64() + clock() + (unsigned long long)__isGlobal(t); __threadfence(); __nanosleep(20); atomicMax(t, 5ull); atomicExch((float*)t, 1.f); }
