// Recursion, memory from the device's heap, calls through tables and of virtual functions.
#include <cuda_runtime.h>

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
extern "C" __global__ void recursion(int *out) { out[threadIdx.x] = fibonacci(threadIdx.x % 12); }

extern "C" __global__ void heap(int *out) {
    int count = threadIdx.x % 5 + 1, sum = 0;
    int *held = (int *)malloc(count * sizeof(int));
    for (int i = 0; i < count; i++)
        held[i] = i + threadIdx.x;
    for (int i = 0; i < count; i++)
        sum += held[i];
    free(held);
    out[threadIdx.x] = sum;
}

__device__ __noinline__ int add3(int x) { return x + 3; }
__device__ __noinline__ int times5(int x) { return x * 5; }
__device__ __noinline__ int negative(int x) { return -x; }
typedef int (*Function)(int);
__device__ Function table[3] = {add3, times5, negative};
extern "C" __global__ void indirect(int *out) { out[threadIdx.x] = table[threadIdx.x % 3](threadIdx.x); }

struct Shape {
    __device__ virtual int area(int x) const = 0;
};
struct Square : Shape {
    __device__ int area(int x) const override { return x * x; }
};
struct Strip : Shape {
    __device__ int area(int x) const override { return 2 * x; }
};
extern "C" __global__ void virtuals(int *out) {
    Square square;
    Strip strip;
    const Shape *shape = threadIdx.x & 1 ? (const Shape *)&square : (const Shape *)&strip;
    out[threadIdx.x] = shape->area(threadIdx.x);
}
