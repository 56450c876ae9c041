// nvcc assert.cu
// An assertion that does not hold: its text on standard error, and an error that stays.
#include <cassert>
#include <cstdio>

__global__ void check(const int *values, int limit) {
    assert(values[threadIdx.x] < limit);
}

int main() {
    int host[32], *values;
    for (int i = 0; i < 32; i++) host[i] = i;
    cudaMalloc(&values, sizeof host);
    cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice);
    check<<<1, 32>>>(values, 32);
    printf("it holds: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    check<<<1, 32>>>(values, 30);
    printf("it does not: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    printf("and stays: %s, %s\n", cudaGetErrorName(cudaMalloc(&values, 4)), cudaGetErrorName(cudaGetLastError()));
}
