// nvcc printf.cu
// Kernels that print, between lines that the host prints.
#include <cstdio>

__global__ void numbers() {
    printf("%d %5d|%-5d|%05d %+d %x %#X %o %u\n", 1, 22, 33, 44, 55, 255, 255, 8, 4294967295u);
    printf("%f %.3f %8.2f %e %g %g %a\n", 1.5, 3.14159, 2.5f, 12345.678, 1e-10, 100000.0, 1.0);
    printf("%lld %llu %llx\n", -1234567890123ll, 18446744073709551615ull, 0xdeadbeefcafeull);
    printf("%c%c%c %s %10s|%-6s| %%\n", 'a', 'b', 'c', "text", "right", "left");
}

__global__ void threads() {
    if (threadIdx.x % 8 == 3) printf("block %d, thread %d of %d\n", blockIdx.x, threadIdx.x, blockDim.x);
}

__global__ void returns(int *count) { *count = printf("three arguments: %d %d %d\n", 1, 2, 3); }

int main() {
    printf("before\n");
    numbers<<<1, 1>>>();
    cudaDeviceSynchronize();
    printf("between\n");
    threads<<<1, 32>>>();
    cudaDeviceSynchronize();
    int *count, host = 0;
    cudaMalloc(&count, sizeof host);
    returns<<<1, 1>>>(count);
    cudaMemcpy(&host, count, sizeof host, cudaMemcpyDeviceToHost);
    printf("printf returned %d\n", host);
}
