// nvcc big-shared.cu
// More shared memory than the 48 KiB that every kernel may have: asked for with cudaFuncSetAttribute.
#include <cstdio>
#include <vector>

extern __shared__ int buffer[];

// The whole block reverses an array that only fits into much shared memory.
__global__ void reverse(int *data, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) buffer[i] = data[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) data[i] = buffer[n - 1 - i];
}

int main() {
    const int n = 20 << 10, bytes = n * sizeof(int);
    std::vector<int> host(n);
    for (int i = 0; i < n; i++) host[i] = i;
    int *data;
    cudaMalloc(&data, bytes);
    cudaMemcpy(data, host.data(), bytes, cudaMemcpyHostToDevice);

    reverse<<<1, 256, bytes>>>(data, n);
    printf("without asking: %s\n", cudaGetErrorName(cudaGetLastError()));
    int most = 0;
    cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
    printf("the device has enough: %s\n", most >= bytes ? "yes" : "no");
    cudaError_t error = cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    printf("asking: %s\n", cudaGetErrorName(error));
    cudaFuncAttributes attributes;
    cudaFuncGetAttributes(&attributes, reverse);
    printf("may now have %d bytes, %zu of its own\n", attributes.maxDynamicSharedSizeBytes, attributes.sharedSizeBytes);
    reverse<<<1, 256, bytes>>>(data, n);
    printf("with asking: %s\n", cudaGetErrorName(cudaGetLastError()));
    cudaMemcpy(host.data(), data, bytes, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < n; i++) wrong += host[i] != n - 1 - i;
    printf("%d wrong\n", wrong);
    error = cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 30);
    printf("too much: %s\n", cudaGetErrorName(error));
    cudaGetLastError();
    return wrong != 0;
}
