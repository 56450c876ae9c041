// nvcc out-of-bounds.cu
// exits with 3
// A kernel that stores where nothing is: the error comes with the next call that waits, and stays.
#include <cstdio>

__global__ void store(int *data, long long at) { data[at + threadIdx.x] = 1; }

int main() {
    int *data;
    cudaMalloc(&data, 64 * sizeof(int));
    store<<<1, 32>>>(data, 0);
    printf("inside: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    store<<<1, 32>>>(data, 1ll << 40);
    printf("outside: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    int host;
    printf("a copy: %s\n", cudaGetErrorName(cudaMemcpy(&host, data, sizeof host, cudaMemcpyDeviceToHost)));
    printf("an allocation: %s\n", cudaGetErrorName(cudaMalloc(&data, 4)));
    store<<<1, 32>>>(data, 0);
    printf("a launch: %s\n", cudaGetErrorName(cudaGetLastError()));
    printf("%s\n", cudaGetErrorString(cudaErrorIllegalAddress));
    return 3;
}
