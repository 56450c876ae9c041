// nvcc -rdc=true main.cu shapes.cu
// Device code in units that are linked: functions and variables of other units, static ones of the same name, and a
// table of functions.
#include "shapes.h"
#include <cstdio>

typedef float (*Operation)(float);
extern __device__ Operation operations[2];

static __device__ float scaled(float size) { return size + 100; }
static __device__ int unit = 1000;

template <typename T>
__device__ T cube(T x) { return x * x * x; }

__global__ void areas(float *out) {
    int i = threadIdx.x;
    out[i] = area(i % 4, float(i));
    out[8 + i] = scaled(float(i)) + unit + cube(i);
    out[16 + i] = operations[i % 2](float(i));
}

int main() {
    float *out, host[24];
    cudaMalloc(&out, sizeof host);
    areas<<<1, 8>>>(out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    const char *rows[] = {"areas", "scaled", "operations"};
    for (int row = 0; row < 3; row++) {
        printf("%s:", rows[row]);
        for (int i = 0; i < 8; i++) printf(" %g", host[row * 8 + i]);
        printf("\n");
    }
    int count = 0;
    cudaMemcpyFromSymbol(&count, calls, sizeof count);
    printf("%d calls, %s\n", count, cudaGetErrorString(cudaGetLastError()));
}
